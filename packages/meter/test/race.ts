import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Counter, Full, Reserved } from '@behest/protocol/enforcement/meter';

/** What one process of a race sends. */
export interface Race {
  readonly url: string;
  readonly tenant: string;
  /** The number of the first call. */
  readonly from: number;
  readonly calls: number;
  readonly counters: readonly Counter[];
}

/** Two processes reserve at once, half of the calls each. @returns the answers of all calls */
export async function race(all: Omit<Race, 'from'>): Promise<(Reserved | Full)[]> {
  const calls = all.calls / 2;
  const racers = [0, calls].map((from) =>
    fork(join(import.meta.dirname, 'racer.ts'), [JSON.stringify({ ...all, calls, from })], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    }),
  );
  await Promise.all(racers.map((racer) => once(racer, 'message')));
  const answers = racers.map((racer) => once(racer, 'message'));
  for (const racer of racers) racer.send('go');
  return (await Promise.all(answers)).flatMap(([own]) => own);
}
