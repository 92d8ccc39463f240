import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/**
 * Everything a person is shown of a request, in one read. Reads authorization requests, agents and developers,
 * and writes nothing: deciding is the request's own business.
 */
export function findShown(db: Executor, { developerId }: Tenant, requestId: string) {
  return db
    .selectFrom('authRequests as request')
    .innerJoin('agents as agent', (join) =>
      join.onRef('agent.developerId', '=', 'request.developerId').onRef('agent.id', '=', 'request.agentId'),
    )
    .innerJoin('developers as developer', 'developer.id', 'request.developerId')
    .selectAll('request')
    .select([
      'agent.name as agentName',
      'agent.did as agentDid',
      'agent.description as agentDescription',
      'developer.name as developerName',
      'developer.mode as developerMode',
      'developer.plan as developerPlan',
      'developer.consentMode',
      'developer.consentKeys',
      'developer.scopeDescriptions',
    ])
    .where('request.developerId', '=', developerId)
    .where('request.id', '=', requestId)
    .executeTakeFirst();
}

export type ShownRow = NonNullable<Awaited<ReturnType<typeof findShown>>>;
