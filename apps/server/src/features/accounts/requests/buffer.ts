import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { newId } from '../../../platform/ids.ts';
import type { NoteRefusal } from '../../../platform/refusals.ts';
import { addFailuresAcrossTenants, type FailureCount, type FailureRow } from './requests.repo.ts';
import { type Allowance, hourOf, takeRow } from './requests.rules.ts';

export interface FailureBuffer {
  readonly note: NoteRefusal;
  /** Writes all that has gathered. What a failed write had waits for the next. */
  flush(): Promise<void>;
}

const MAX_DEVELOPERS = 10_000;
/** Rows, and counts, that wait while the database is away. */
const MAX_WAITING = 5_000;
const AT_ONCE = 500;

/** Gathers refusals in this process, so that no answer waits for them. */
export function createFailureBuffer({
  db,
  clock,
}: {
  readonly db: Executor;
  readonly clock: Clock;
}): FailureBuffer {
  const allowances = new LRUCache<string, Allowance>({ max: MAX_DEVELOPERS });
  const counts = new Map<string, FailureCount>();
  let rows: FailureRow[] = [];
  let flushing: Promise<void> = Promise.resolve();

  const add = (more: FailureCount) => {
    const { developerId, hour, code, operationId } = more;
    const key = `${developerId} ${hour} ${code} ${operationId}`;
    const known = counts.get(key);
    if (!known && counts.size >= MAX_WAITING) return;
    const last = known && known.lastAt > more.lastAt ? known : more;
    const count = more.count + (known?.count ?? 0);
    const recorded = more.recorded + (known?.recorded ?? 0);
    counts.set(key, { ...last, count, recorded });
  };

  const write = async () => {
    while (counts.size > 0 || rows.length > 0) {
      const some = [...counts].slice(0, AT_ONCE);
      const first = rows.slice(0, AT_ONCE);
      for (const [key] of some) counts.delete(key);
      rows = rows.slice(AT_ONCE);
      const sums = some.map(([, counted]) => counted);
      try {
        await addFailuresAcrossTenants(db, first, sums);
      } catch (error) {
        for (const each of sums) add(each);
        rows = [...first, ...rows].slice(0, MAX_WAITING);
        throw error;
      }
    }
  };

  return {
    note({ developerId }, refusal) {
      const at = clock();
      const hasRoom = rows.length < MAX_WAITING;
      const allowance = hasRoom ? takeRow(allowances.get(developerId), at.getTime()) : undefined;
      const { code, operationId, requestId: lastRequestId } = refusal;
      const [lastAt, hour] = [at.toISOString(), hourOf(at).toISOString()];
      const recorded = allowance ? 1 : 0;
      add({ developerId, hour, code, operationId, count: 1, recorded, lastAt, lastRequestId });
      if (!allowance) return;
      allowances.set(developerId, allowance);
      rows.push({ developerId, id: newId('freq', at), at: lastAt, ...refusal });
    },
    flush() {
      flushing = flushing.catch(() => {}).then(write); // its own caller has the failure of the one before
      return flushing;
    },
  };
}
