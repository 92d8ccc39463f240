import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A server for this test run alone. */
export interface Kept {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * Has a process of its own run a server. It ends server and files when we end, in whatever way: even a
 * killed test run leaves nothing behind.
 */
export async function startKeeper(program: string, flags: readonly string[] = []): Promise<Kept> {
  // Detached: Ctrl-C ends us, and our end is what tells the keeper to stop.
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

/** What such a process does: starts, tells the address, and waits to be left alone. */
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
