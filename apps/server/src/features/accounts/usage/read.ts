import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { limitOf } from '../quotas/index.ts';
import type { UsageBuffer } from './buffer.ts';
import { deleteUsageBeforeAcrossTenants, listDays } from './usage.repo.ts';
import { type Counts, dayOf, daysIn, firstOf, NONE, sumOf, toCounts } from './usage.rules.ts';
import type { Usage, UsageHistory } from './usage.schema.ts';

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
