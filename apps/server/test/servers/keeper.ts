import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A server for this test run alone. */
export interface Kept {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * Runs a server in a keeper, a process of its own. The keeper ends the server and removes its files when this
 * process ends, so even a killed test run leaves nothing behind.
 */
export async function startKeeper(program: string, flags: readonly string[] = []): Promise<Kept> {
  // Detached, because Ctrl-C must end only this process. The keeper stops when it does.
  const keeper = fork(join(import.meta.dirname, program), flags, { detached: true, execArgv: [] });
  const ended = once(keeper, 'exit');
  const [answer] = await Promise.race([once(keeper, 'message'), ended]);
  if (typeof answer?.url !== 'string') throw new Error(answer?.problem ?? `${program} ended with ${answer}.`);
  const stop = async () => {
    if (keeper.connected) keeper.disconnect();
    await ended;
  };
  return { url: answer.url, stop };
}

/** The work of such a process: it starts the server, sends the address and waits for its parent to end. */
export async function keep(start: () => Promise<string>, end: () => Promise<void>): Promise<void> {
  const stop = () => end().finally(() => process.exit());
  process.once('disconnect', stop);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, stop);
  try {
    process.send?.({ url: await start() });
  } catch (error) {
    process.send?.({ problem: error instanceof Error ? error.message : String(error) });
    await stop();
  }
}

/** Starts a server, or takes the server of TEST_REDIS_URL. @throws without either, so no test is left out */
export async function startRedis(): Promise<Kept> {
  const given = process.env.TEST_REDIS_URL;
  if (given) return { url: given, stop: async () => {} };
  return startKeeper('redis-keeper.ts');
}
