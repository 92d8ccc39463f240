import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

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
