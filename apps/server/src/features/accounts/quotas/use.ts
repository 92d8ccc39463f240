import type { Caller } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import type { QuotaResource, Quotas } from '../../../platform/quotas.ts';
import { correctCounter, countExactly, releaseQuota, takeQuota } from './quotas.repo.ts';

/** @returns null where the plan has no limit, as the database has it. */
export function limitOf(quotas: Quotas, { plan }: Caller, resource: QuotaResource): number | null {
  const limit = quotas[plan][resource];
  return limit === 'unlimited' ? null : limit;
}

/**
 * Counts one more row, in the transaction that creates it and before it does: at the limit the rows are counted.
 * @throws PLAN_LIMIT_EXCEEDED
 */
export async function useQuota(tx: Tx, quotas: Quotas, caller: Caller, resource: QuotaResource, at: Date) {
  const limit = limitOf(quotas, caller, resource);
  if (!(await takeQuota(tx, caller.tenant, resource, limit, at))) throw overQuota(caller, resource, limit);
}

export function overQuota({ plan }: Caller, resource: QuotaResource, limit: number | null): AppError {
  const message = `The ${plan} plan includes ${limit} ${spokenOf(resource)}, and all are used.`;
  return new AppError('PLAN_LIMIT_EXCEEDED', message, { limit, plan, resource, current: limit });
}

/** As a sentence says it: two SSO connections. */
const spokenOf = (resource: QuotaResource): string =>
  resource.replaceAll('_', ' ').replace(/^(scim|sso) /, (name) => name.toUpperCase());

/** Gives back the quota of ended rows, in the transaction that ends them. */
export async function freeQuota(tx: Tx, { tenant }: Caller, resource: QuotaResource, count: number) {
  await releaseQuota(tx, tenant, resource, count);
}

/** Gives back the quota of rows that have run out, in the transaction that records it. */
export async function recountQuota(tx: Tx, { tenant }: Caller, resource: QuotaResource, at: Date) {
  await correctCounter(tx, tenant, resource, at);
}

/**
 * Refuses before the write, which decides. It counts the rows only when `used`, the counter, says that the
 * plan is full. @throws PLAN_LIMIT_EXCEEDED
 */
export async function refuseWhenFull(
  db: Executor,
  quotas: Quotas,
  caller: Caller,
  { resource, used, at }: { resource: QuotaResource; used: number; at: Date },
): Promise<void> {
  const limit = limitOf(quotas, caller, resource);
  if (limit === null || used < limit) return;
  if ((await countExactly(db, caller.tenant, resource, at)) >= limit)
    throw overQuota(caller, resource, limit);
}
