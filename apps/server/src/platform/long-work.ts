import { setImmediate, setTimeout } from 'node:timers/promises';

/** Work on many rows, whose portions other requests of the process hardly feel. */
export interface LongWork {
  /** Waits until the next portion may be worked on. The caller then works on it without waiting for anything. */
  readonly nextTurn: () => Promise<void>;
}

/** The time of the process, in milliseconds. */
interface Time {
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

const TIME: Time = { now: () => performance.now(), sleep: setTimeout };

/** Milliseconds: timers know no shorter time, and may be late by as much. */
const LEAST_REST = 1;

/**
 * Deals out turns of the event loop, one after another in the order in which they were asked for. After each turn all
 * long work rests for as long as the turn took. So it takes at most half of the time of the process, however many
 * requests share it, and a request that is alone waits at most twice as long as without rests.
 */
export function longWork({ now, sleep }: Time = TIME): LongWork {
  let lastTurn = Promise.resolve();
  let owed = 0; // milliseconds

  async function rest(worked: number): Promise<void> {
    owed += worked;
    if (owed < LEAST_REST) return setImmediate();
    const restsSince = now();
    await sleep(owed);
    // A process that was busy with others has not saved up time for long work.
    owed = Math.max(owed - (now() - restsSince), -LEAST_REST);
  }

  return {
    async nextTurn() {
      const before = lastTurn;
      const { promise, resolve } = Promise.withResolvers<void>();
      lastTurn = promise;
      await before;
      const startedAt = now();
      // Node calls this when everything has run that follows from the turn without waiting.
      process.nextTick(() => void rest(now() - startedAt).then(resolve));
    },
  };
}
