import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { hook } from '../../../platform/hooks.ts';
import { findGrant } from './grants.queries.ts';
import type { StopPreview, StopQuery } from './grants.schema.ts';
import type { GrantDeps } from './list.ts';
import { countFalling, hasAgent } from './preview.repo.ts';

/** Counts the calls under way that end with the subject of a stop, which is the whole account where none is named. */
export type CountCalls = (db: Executor, tenant: Tenant, query: StopQuery, at: Date) => Promise<number>;

/** Calls under way are counted before a stop. */
export const callsCounted = hook<CountCalls>('calls counted');

export interface PreviewDeps extends GrantDeps {
  readonly callCounters: readonly CountCalls[];
}

const MOST = 1000;
const bounded = (count: number) => Math.min(count, MOST);

/**
 * Counts what ends when a grant or an agent is revoked, a principal is offboarded, or the account is stopped. Nothing ends.
 * @throws NOT_FOUND for an unknown agent or grant, BAD_REQUEST for two subjects
 */
export async function previewStop(deps: PreviewDeps, caller: Caller, query: StopQuery): Promise<StopPreview> {
  const { agentId, principalId, grantId } = query;
  const subjects = [agentId, principalId, grantId].filter((id) => id !== undefined);
  if (subjects.length > 1) {
    const message = 'Name an agent, a principal or a grant, and not two of them.';
    throw badField(grantId === undefined ? 'principalId' : 'grantId', 'not_allowed', message);
  }
  const { db } = deps;
  if (grantId !== undefined && !(await findGrant(db, caller, grantId))) throw notFound();
  if (agentId !== undefined && !(await hasAgent(db, caller.tenant, agentId))) throw notFound();
  const at = deps.clock();
  const falling = await countFalling(db, caller.tenant, query, at);
  const calls = await Promise.all(deps.callCounters.map((count) => count(db, caller.tenant, query, at)));
  return {
    grants: bounded(falling.grants),
    agents: bounded(falling.agents),
    principals: bounded(falling.principals),
    requests: falling.requests,
    calls: calls.reduce((sum, count) => sum + count, 0),
    truncated: falling.isCut || falling.grants > MOST,
  };
}
