import type { Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { addActivityAcrossTenants, type HourCount } from './insights.repo.ts';
import { type Counted, hourOf } from './insights.rules.ts';

export interface ActivityBuffer {
  /** Never waits and never fails. */
  readonly count: (tenant: Tenant, metric: Counted) => void;
  /** Writes all counts. Those of a failed write wait for the next. */
  flush(): Promise<void>;
}

const AT_ONCE = 1000;

/** Counts in this process, so that nothing that is counted waits for a count. */
export function createActivityBuffer({
  db,
  clock,
}: {
  readonly db: Executor;
  readonly clock: Clock;
}): ActivityBuffer {
  const counts = new Map<string, HourCount>();
  let flushing: Promise<void> = Promise.resolve();

  const add = (more: HourCount) => {
    const key = `${more.developerId} ${more.metric} ${more.hour}`;
    counts.set(key, { ...more, count: more.count + (counts.get(key)?.count ?? 0) });
  };

  const write = async () => {
    while (counts.size > 0) {
      const some = [...counts].slice(0, AT_ONCE);
      for (const [key] of some) counts.delete(key);
      const each = some.map(([, counted]) => counted);
      try {
        await addActivityAcrossTenants(db, each);
      } catch (error) {
        for (const counted of each) add(counted);
        throw error;
      }
    }
  };

  return {
    count: ({ developerId }, metric) =>
      add({ developerId, metric, hour: hourOf(clock()).toISOString(), count: 1 }),
    flush() {
      flushing = flushing.catch(() => {}).then(write); // its own caller has the failure of the one before
      return flushing;
    },
  };
}
