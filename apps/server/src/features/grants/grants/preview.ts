import type { Caller } from '../../../platform/caller.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { findGrant } from './grants.queries.ts';
import type { StopPreview, StopQuery } from './grants.schema.ts';
import type { GrantDeps } from './list.ts';
import { countFalling, hasAgent } from './preview.repo.ts';

const MOST = 1000;
const bounded = (count: number) => Math.min(count, MOST);

/**
 * Counts what ends when a grant or an agent is revoked, a principal is offboarded, or the account is stopped. Nothing ends.
 * @throws NOT_FOUND for an unknown agent or grant, BAD_REQUEST for two subjects
 */
export async function previewStop(deps: GrantDeps, caller: Caller, query: StopQuery): Promise<StopPreview> {
  const { agentId, principalId, grantId } = query;
  const subjects = [agentId, principalId, grantId].filter((id) => id !== undefined);
  if (subjects.length > 1) {
    const message = 'Name an agent, a principal or a grant, and not two of them.';
    throw badField(grantId === undefined ? 'principalId' : 'grantId', 'not_allowed', message);
  }
  const { db } = deps;
  if (grantId !== undefined && !(await findGrant(db, caller, grantId))) throw notFound();
  if (agentId !== undefined && !(await hasAgent(db, caller.tenant, agentId))) throw notFound();
  const falling = await countFalling(db, caller.tenant, query, deps.clock());
  return {
    grants: bounded(falling.grants),
    agents: bounded(falling.agents),
    principals: bounded(falling.principals),
    requests: falling.requests,
    truncated: falling.isCut || falling.grants > MOST,
  };
}
