import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { CountUse } from '../../../platform/quotas.ts';
import { addUsageAcrossTenants, type DayCounts } from './usage.repo.ts';
import { type Counts, dayOf, NONE, sumOf } from './usage.rules.ts';

export interface UsageBuffer {
  readonly count: CountUse;
  /** Writes all counts. Those of a failed write wait for the next. */
  flush(): Promise<void>;
}

/** Developers and days in one statement. */
const AT_ONCE = 1000;

/**
 * Counts in this process, so that no counted request waits for a count. A flush adds what has gathered, one row for a
 * developer and day, however many requests there were.
 */
export function createUsageBuffer({
  db,
  clock,
}: {
  readonly db: Executor;
  readonly clock: Clock;
}): UsageBuffer {
  /** By developer and day. */
  const counts = new Map<string, DayCounts>();
  let flushing: Promise<void> = Promise.resolve();

  const add = (developerId: string, day: string, more: Counts) => {
    const key = `${developerId} ${day}`;
    counts.set(key, { developerId, day, ...sumOf(counts.get(key) ?? NONE, more) });
  };

  const write = async () => {
    while (counts.size > 0) {
      const some = [...counts].slice(0, AT_ONCE);
      for (const [key] of some) counts.delete(key);
      try {
        const each = some.map(([, counted]) => counted);
        await addUsageAcrossTenants(db, each);
      } catch (error) {
        for (const [, { developerId, day, ...more }] of some) add(developerId, day, more);
        throw error;
      }
    }
  };

  return {
    count: ({ developerId }, kind) => add(developerId, dayOf(clock()), { ...NONE, [kind]: 1 }),
    flush() {
      flushing = flushing.catch(() => {}).then(write); // its own caller has the failure of the one before
      return flushing;
    },
  };
}
