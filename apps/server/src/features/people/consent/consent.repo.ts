import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { requestOf } from '../../access/authorization/authorization.queries.ts';
import { agentsOf } from '../../accounts/agents/agents.queries.ts';
import { developerOf } from '../../accounts/developers/developers.queries.ts';

/**
 * Reads everything that a person is shown of a request. Consent has no table: decisions belong to the
 * request.
 */
export function findShown(db: Executor, tenant: Tenant, requestId: string) {
  return requestOf(db, tenant, requestId)
    .innerJoin(agentsOf(db, tenant), 'agent.agentId', 'request.agentId')
    .innerJoin(developerOf(db, tenant), 'developer.developerId', 'request.developerId')
    .select(['agent.agentName', 'agent.agentDid', 'agent.agentDescription'])
    .select(['developer.developerName', 'developer.mode as developerMode', 'developer.plan as developerPlan'])
    .select(['developer.consentMode', 'developer.consentKeys', 'developer.scopeDescriptions'])
    .executeTakeFirst();
}

export type ShownRow = NonNullable<Awaited<ReturnType<typeof findShown>>>;
