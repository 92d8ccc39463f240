import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, readPid, signal, waitUntil } from '../machine/processes.ts';
import type { Home } from './home.ts';

const GRACE = { seconds: 30 }; // more than the 25 s the server grants requests in flight

/** Where the numbers of our processes are kept, and what stands in their command lines. */
export function ownProcesses({ root, folder }: Home) {
  return {
    start: { file: join(folder, 'start.pid'), mark: join(root, 'tools/dev.ts') },
    server: { file: join(folder, 'server.pid'), mark: join(root, 'apps/server/start.mjs') },
  };
}

/**
 * Makes us the one `npm start` of this checkout. An earlier one, and the server of one that was killed, are
 * ended. @returns what was ended, in words.
 */
export async function takeOver(home: Home): Promise<string[]> {
  const { start } = ownProcesses(home);
  const ended: string[] = [];
  for (;;) {
    ended.push(...(await endEarlier(home)));
    const own = `${start.file}.${process.pid}`;
    writeFileSync(own, String(process.pid), { mode: 0o600 });
    try {
      linkSync(own, start.file); // of two that get here together, one fails and ends the other
      return ended;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    } finally {
      rmSync(own);
    }
  }
}

/** Ends what an earlier start left running, the start itself first: it then ends the rest in order. */
export async function endEarlier(home: Home): Promise<string[]> {
  const ended: string[] = [];
  for (const [what, { file, mark }] of Object.entries(ownProcesses(home))) {
    const pid = readPid(file);
    if (isRunning(pid, mark)) {
      signal(pid, 'SIGTERM');
      if (!(await waitUntil(() => !isRunning(pid, mark), GRACE))) signal(pid, 'SIGKILL');
      ended.push(`the earlier ${what} (pid ${pid})`);
    }
    if (readPid(file) === pid) rmSync(file, { force: true });
  }
  return ended;
}
