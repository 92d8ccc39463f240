import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { makePassage } from '../machine/folders.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/throw-away.ts';

export interface RedisProgram {
  readonly path: string;
  readonly origin: 'installed' | 'unpacked';
  /** Folders of libraries that the system may lack. */
  readonly libraries: readonly string[];
}

const KIND = 'unpacking-redis';

/** The server and the libraries that it is linked with. apt checks their signatures. */
const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1'];

/** Libraries that a very bare system lacks besides, under the names of different releases. */
const MORE = [[], ['libssl3'], ['libssl3t64']];

/**
 * Fetches packages of Debian or a derivative and unpacks them below `home`, without root and without an
 * install.
 * @returns undefined on another system
 */
export async function unpackRedis(
  home: string,
  beforeFetching: () => void,
): Promise<RedisProgram | undefined> {
  const folder = join(home, 'redis');
  if (!fs.existsSync(folder)) {
    beforeFetching();
    await unpackInto(folder, home);
  }
  return fs.existsSync(folder) ? programIn(folder) : undefined;
}

/**
 * Unpacks aside and moves the folder when it is complete, because two commands may run together and either may
 * be killed.
 */
async function unpackInto(folder: string, home: string): Promise<void> {
  makePassage(home);
  await sweepThrowAways(KIND, { place: home });
  const aside = makeThrowAway(KIND, home);
  try {
    const redis = join(aside, 'redis');
    if (await unpackRunnable(aside, redis)) fs.renameSync(redis, folder);
  } catch (error) {
    if (!fs.existsSync(folder)) throw error; // else another was quicker
  } finally {
    fs.rmSync(aside, { recursive: true, force: true });
  }
}

async function unpackRunnable(aside: string, redis: string): Promise<boolean> {
  for (const more of MORE) {
    const files = await download([...PACKAGES, ...more], aside);
    if (files.length < PACKAGES.length) return false;
    for (const file of files) await run('dpkg-deb', ['-x', file, redis], aside);
    const { path, libraries } = programIn(redis);
    if (await run(path, ['--version'], aside, { LD_LIBRARY_PATH: libraries.join(':') })) return true;
  }
  return false;
}

async function download(packages: readonly string[], aside: string): Promise<string[]> {
  const target = join(aside, 'packages');
  for (const part of ['packages', 'lists/partial', 'cache/archives/partial'])
    fs.mkdirSync(join(aside, part), { recursive: true });
  const options = ['-q', '-o', 'APT::Sandbox::User=', '-o', 'Acquire::Retries=2'];
  const get = (extra: string[]) =>
    run(
      'apt-get',
      [...options, '-o', 'Acquire::http::Timeout=20', ...extra, 'download', ...packages],
      target,
    );
  if (!(await get([]))) {
    // The system's package lists are empty or stale, and only root may renew those.
    const own = ['-o', `Dir::State::Lists=${aside}/lists`, '-o', `Dir::Cache=${aside}/cache`];
    if (await run('apt-get', [...options, ...own, 'update'], target)) await get(own);
  }
  return fs.readdirSync(target).map((name) => join(target, name));
}

function programIn(folder: string): RedisProgram {
  const parent = join(folder, 'usr/lib'); // with one folder per architecture
  const libraries = fs.existsSync(parent) ? fs.readdirSync(parent).map((name) => join(parent, name)) : [];
  return { path: join(folder, 'usr/bin/redis-server'), origin: 'unpacked', libraries };
}

/** @returns true when the program ran and succeeded */
function run(program: string, flags: string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, flags, { cwd, stdio: 'ignore', env: { ...process.env, ...env } });
    child.once('error', () => resolve(false)).once('close', (status) => resolve(status === 0));
  });
}
