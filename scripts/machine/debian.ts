import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { makePassage, makeThrowAway, sweepThrowAways } from './folders.ts';

/** A program of Debian or a derivative that is not installed. */
export interface DebianProgram {
  /** Names the folder that it is unpacked into. */
  readonly name: string;
  /** Below the folder, such as `usr/bin/redis-server`. */
  readonly path: string;
  /** The packages of different releases, with the libraries that each may lack. The first that runs is taken. */
  readonly packages: readonly (readonly string[])[];
  /** Flags with which the program only says what it is. */
  readonly flags: readonly string[];
}

export interface Unpacked {
  /** Holds the files of the packages, as the root of a system does. */
  readonly root: string;
  readonly path: string;
  /** Folders of libraries that the system may lack. */
  readonly libraries: readonly string[];
}

/**
 * Fetches packages and unpacks them below `home`, without root and without an install. apt checks their signatures.
 * @returns undefined on another system, and while no mirror answers
 */
export async function unpackProgram(
  program: DebianProgram,
  home: string,
  beforeFetching = () => {},
): Promise<Unpacked | undefined> {
  const folder = join(home, program.name);
  if (!fs.existsSync(folder)) {
    beforeFetching();
    await unpackInto(folder, program, home);
  }
  return fs.existsSync(folder) ? programIn(folder, program) : undefined;
}

/**
 * Unpacks aside and moves the folder when it is complete, because two commands may run together and either may
 * be killed.
 */
async function unpackInto(folder: string, program: DebianProgram, home: string): Promise<void> {
  const kind = `unpacking-${program.name}`;
  makePassage(home);
  await sweepThrowAways(kind, { place: home });
  const aside = makeThrowAway(kind, home);
  try {
    const unpacked = join(aside, program.name);
    if (await unpackRunnable(aside, unpacked, program)) fs.renameSync(unpacked, folder);
  } catch (error) {
    if (!fs.existsSync(folder)) throw error; // else another was quicker
  } finally {
    fs.rmSync(aside, { recursive: true, force: true });
  }
}

async function unpackRunnable(aside: string, folder: string, program: DebianProgram): Promise<boolean> {
  for (const packages of program.packages) {
    const files = await download(packages, aside);
    if (!files) return false;
    for (const file of files) await run('dpkg-deb', ['-x', file, folder], aside);
    const { path, libraries } = programIn(folder, program);
    if (await run(path, program.flags, aside, { LD_LIBRARY_PATH: libraries.join(':') })) return true;
  }
  return false;
}

/** @returns undefined when no mirror answers */
async function download(packages: readonly string[], aside: string): Promise<string[] | undefined> {
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
    if (!(await run('apt-get', [...options, ...own, 'update'], target))) return undefined;
    await get(own);
  }
  return fs.readdirSync(target).map((name) => join(target, name));
}

function programIn(root: string, program: DebianProgram): Unpacked {
  const parent = join(root, 'usr/lib'); // with one folder per architecture
  const libraries = fs.existsSync(parent) ? fs.readdirSync(parent).map((name) => join(parent, name)) : [];
  return { root, path: join(root, program.path), libraries };
}

/** @returns true when the program ran and succeeded */
function run(
  program: string,
  flags: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, flags, { cwd, stdio: 'ignore', env: { ...process.env, ...env } });
    child.once('error', () => resolve(false)).once('close', (status) => resolve(status === 0));
  });
}
