import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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

/**
 * Tells whether a process lives and is the expected one. The system reuses numbers, so `mark` has to be in the
 * command line. A zombie has no command line and counts as gone.
 */
export function isRunning(pid: number, mark: string): boolean {
  return pid > 0 && commandOf(pid).includes(mark);
}

function commandOf(pid: number): string {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // there is no such process
  }
}

/** Reads the number in a pid file. @returns 0 without a number, which `isRunning` treats as gone */
export function readPid(file: string): number {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}

/** Signals a process, which may have ended already. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** @returns true when the condition became true in time */
export async function waitUntil(
  isTrue: () => boolean | Promise<boolean>,
  { seconds }: { seconds: number },
): Promise<boolean> {
  const end = performance.now() + seconds * 1000;
  while (!(await isTrue())) {
    if (performance.now() > end) return false;
    await sleep(20);
  }
  return true;
}
