import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { CountUse, Quotas } from '../../../platform/quotas.ts';
import { limitOf } from '../quotas/index.ts';
import {
  addUsageAcrossTenants,
  type DayCounts,
  deleteUsageBeforeAcrossTenants,
  listDays,
} from './usage.repo.ts';
import { type Counts, dayOf, daysIn, firstOf, NONE, sumOf, toCounts } from './usage.rules.ts';
import type { Usage, UsageHistory } from './usage.schema.ts';

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

export interface UsageDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly buffer: UsageBuffer;
}

/** Today, and the calendar month so far (UTC). */
export async function getUsage(deps: UsageDeps, caller: Caller): Promise<Usage> {
  const today = dayOf(deps.clock());
  const month = today.slice(0, 7);
  const days = await countsByDay(deps, caller, { since: `${month}-01`, until: today });
  const ofMonth = [...days.values()].reduce(sumOf, NONE);
  return {
    ...caller.tenant,
    period: today,
    ...toCounts(days.get(today) ?? NONE),
    plan: caller.plan,
    limits: {
      tokenExchangesPerMonth: limitOf(deps.quotas, caller, 'token_exchanges'),
      authorizationsPerMonth: limitOf(deps.quotas, caller, 'authorizations'),
    },
    month: { period: month, ...toCounts(ofMonth) },
  };
}

/** The days with activity, newest first. */
export async function getHistory(
  deps: UsageDeps,
  caller: Caller,
  asked: string | undefined,
): Promise<UsageHistory> {
  const now = deps.clock();
  const days = daysIn(asked);
  const counted = await countsByDay(deps, caller, { since: firstOf(now, days), until: dayOf(now) });
  const usesProxy = [...counted.values()].some(({ proxyCalls }) => proxyCalls > 0);
  const entries = [...counted].map(([date, counts]) => ({
    date,
    ...toCounts(counts),
    ...(usesProxy && { proxyCalls: counts.proxyCalls }),
  }));
  return { ...caller.tenant, days, entries };
}

/** A caller sees its own requests at once, because this process writes what it has counted first. */
async function countsByDay(
  { db, buffer }: UsageDeps,
  { tenant }: Caller,
  span: { readonly since: string; readonly until: string },
): Promise<Map<string, Counts>> {
  await buffer.flush();
  const rows = await listDays(db, tenant, span);
  return new Map(rows.map(({ day, ...counts }) => [day, counts]));
}

const KEPT_DAYS = 400;
const BATCH = 1000;

export async function deleteOldUsage(
  { db, clock }: Pick<UsageDeps, 'db' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const before = firstOf(clock(), KEPT_DAYS);
  const deleteSome = () => inTransaction(db, (tx) => deleteUsageBeforeAcrossTenants(tx, before, BATCH));
  while (!signal.aborted && (await deleteSome()) === BATCH);
}
