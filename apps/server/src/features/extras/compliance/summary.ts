import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { inSnapshot } from '../../../platform/db/snapshot.ts';
import { countPolicies } from '../../grants/policies/policies.queries.ts';
import { findSeqRange } from '../../record/audit/audit.queries.ts';
import { countAgents, countEntriesByStatus, countGrants, getPlan } from './compliance.repo.ts';
import type { Counts, Span, Summary } from './compliance.schema.ts';
import { mustBeDays } from './days.rules.ts';

interface SummaryDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** @throws BAD_REQUEST for a span of time that ends before it begins */
export function summarise({ db, clock }: SummaryDeps, { tenant }: Caller, span: Span): Promise<Summary> {
  mustBeDays(span);
  const now = clock();
  return inSnapshot(db, async (snapshot) => ({
    generatedAt: now.toISOString(),
    ...(await countAll(snapshot, tenant, span, now)),
  }));
}

/** @param db a snapshot, so that the numbers are of one moment */
export async function countAll(db: Executor, tenant: Tenant, span: Span, now: Date): Promise<Counts> {
  const { since, until } = span;
  return {
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    agents: await countAgents(db, tenant),
    grants: await countGrants(db, tenant, span, now),
    auditEntries: await countEntriesByStatus(db, tenant, await findSeqRange(db, tenant, span)),
    policies: { total: await countPolicies(db, tenant) },
    plan: await getPlan(db, tenant),
  };
}
