import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, readPid, signal, waitUntil } from '../machine/folders.ts';
import { dataHome } from '../postgres/programs.ts';
import { findRunning, stopRedis } from '../redis/server.ts';
import { type Home, postgresData, redisFolder, stopServer } from './postgres.ts';

const GRACE = { seconds: 30 }; // more than the 25 s the server grants requests in flight

/** The files that keep the process numbers, and the words of each command line. */
export function ownProcesses({ root, folder, programs }: Home) {
  return {
    start: { file: join(folder, 'start.pid'), mark: join(root, programs.start) },
    server: { file: join(folder, 'server.pid'), mark: join(root, programs.server) },
  };
}

/**
 * Makes this process the only start of its folder. It ends an earlier start, and the server of a start
 * that was killed.
 * @returns a description of the ended processes
 */
export async function takeOver(home: Home): Promise<string[]> {
  const { start } = ownProcesses(home);
  const ended: string[] = [];
  for (;;) {
    ended.push(...(await endEarlier(home)));
    const own = `${start.file}.${process.pid}`;
    writeFileSync(own, String(process.pid), { mode: 0o600 });
    try {
      linkSync(own, start.file); // when two starts get here together, one fails here and ends the other
      return ended;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    } finally {
      rmSync(own);
    }
  }
}

/** Ends the processes of an earlier start, the start itself first, because it ends the rest in order. */
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

/** Ends the processes of a folder, and removes its data and keys. */
export async function reset(home: Home, print: (line: string) => void): Promise<void> {
  for (const ended of await endEarlier(home)) print(`Ended ${ended}.`);
  for (const folder of postgresData(home)) await stopServer(folder);
  const redis = await findRunning(redisFolder(home.folder));
  if (redis) await stopRedis(redis);
  for (const folder of new Set([home.folder, dataHome(home.folder)])) {
    rmSync(folder, { recursive: true, force: true });
    print(`Removed ${folder}`);
  }
}
