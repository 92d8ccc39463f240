import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';

/** @param limit null means unlimited. @returns false when the limit is reached */
export async function takeQuota(
  tx: Tx,
  { developerId }: Tenant,
  resource: string,
  limit: number | null,
  at: Date,
): Promise<boolean> {
  const call = sql<{
    taken: boolean;
  }>`select take_quota(${developerId}, ${resource}, ${limit}, ${at}) as taken`;
  return (await call.execute(tx)).rows[0]?.taken ?? false;
}

export async function releaseQuota(tx: Tx, { developerId }: Tenant, resource: string, count: number) {
  await sql`select release_quota(${developerId}, ${resource}, ${count})`.execute(tx);
}

export async function correctCounter(tx: Tx, { developerId }: Tenant, resource: string, at: Date) {
  await sql`select recount_quota(${developerId}, ${resource}, ${at})`.execute(tx);
}

/** Counts the rows instead of reading the counter, so that a refusal is exact. */
export async function countExactly(db: Executor, { developerId }: Tenant, resource: string, at: Date) {
  const call = sql<{ used: string }>`select exact_use(${developerId}, ${resource}, ${at}) as used`;
  return Number((await call.execute(db)).rows[0]?.used);
}

/** Erases rows of a closed account. */
export const eraseQuotas = eraserOf('quota_counters');
