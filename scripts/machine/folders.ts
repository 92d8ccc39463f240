import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isRunning } from './processes.ts';

/** The temporary folder of root may be closed to the account of Postgres. */
function temporaryFolder(): string {
  return process.platform === 'win32' || isOpenToAll(tmpdir()) ? tmpdir() : '/tmp';
}

/** Makes a folder that names its maker, so that a later run may remove the folder of a killed run. */
export function makeThrowAway(kind: string, place = temporaryFolder()): string {
  const folder = mkdtempSync(join(place, `behest-${kind}-${process.pid}-`));
  chmodSync(folder, 0o711); // the account of Postgres has to pass
  return folder;
}

/** Removes the folders whose makers are gone, after `end` has ended the processes in them. */
export async function sweepThrowAways(
  kind: string,
  { place = temporaryFolder(), end }: { place?: string; end?: (folder: string) => Promise<void> } = {},
): Promise<void> {
  const pattern = new RegExp(`^behest-${kind}-(\\d+)-`);
  for (const name of readdirSync(place)) {
    const maker = Number(pattern.exec(name)?.[1]);
    const folder = join(place, name);
    if (!maker || isRunning(maker, 'node') || !isOurs(folder)) continue;
    await end?.(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Any account may have made a folder with such a name in a shared place. */
function isOurs(folder: string): boolean {
  const uid = process.getuid?.();
  return uid === undefined || statSync(folder, { throwIfNoEntry: false })?.uid === uid;
}

const FOLDER = '/dev/shm'; // only Linux has it, in containers often with 64 MB

/** @returns a folder whose files are in memory, or undefined where it or the machine lacks this much room */
export function memoryFolder(gigabytes: number): string | undefined {
  try {
    accessSync(FOLDER, constants.W_OK);
    const { bavail, bsize } = statfsSync(FOLDER);
    const room = Math.min(bavail * bsize, process.availableMemory() / 2); // the tests need memory, too
    return room >= gigabytes * 2 ** 30 ? FOLDER : undefined;
  } catch {
    return undefined; // this system has no such folder
  }
}

/** Tells whether every account of this machine may read this file, or enter this folder. */
export function isOpenToAll(path: string): boolean {
  const enough = lstatSync(path).isDirectory() ? 0o001 : 0o004;
  if (!(statSync(path).mode & enough)) return false;
  const parent = dirname(resolve(path));
  return parent === resolve(path) || isOpenToAll(parent);
}

/**
 * Makes the folder and its missing parents, whatever the umask is. Other accounts may pass through to their own
 * files, and list nothing.
 */
export function makePassage(folder: string): void {
  if (existsSync(folder)) return;
  makePassage(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if (existsSync(folder)) return; // another command was quicker
    throw error;
  }
  chmodSync(folder, 0o711);
}
