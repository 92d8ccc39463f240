import { setImmediate, setTimeout } from 'node:timers/promises';

export interface Clock {
  readonly now: () => number;
  readonly delay: (milliseconds: number) => Promise<void>;
  /** Waits for the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
}

const REAL: Clock = { now: () => performance.now(), delay: setTimeout, nextTurn: setImmediate };

/**
 * Milliseconds. A timer of Node fires up to one late, which times that are further apart than this do not notice. To spin
 * for longer would take a core from what is measured.
 */
const SPIN = 2;

/**
 * Makes a function that waits until a time of `performance.now()`. It has to be asked in the order of the times. A
 * short wait spins from one turn of the event loop to the next, so that answers are read meanwhile.
 */
export function pacer({ now, delay, nextTurn }: Clock = REAL): (time: number) => Promise<void> {
  const waiting: { readonly time: number; readonly go: () => void }[] = [];
  let isRunning = false;

  const run = async () => {
    isRunning = true;
    for (let [first] = waiting; first; [first] = waiting) {
      const wait = first.time - now();
      if (wait > SPIN) await delay(wait);
      else if (wait > 0) await nextTurn();
      else waiting.shift()?.go();
    }
    isRunning = false;
  };

  return (time) =>
    new Promise((go) => {
      waiting.push({ time, go });
      if (!isRunning) void run();
    });
}
