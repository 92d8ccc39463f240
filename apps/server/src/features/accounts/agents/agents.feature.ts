import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { accountClosed, deploymentCounts, keyBound } from '../developers/index.ts';
import { countAgentsAcrossTenants } from './agents.queries.ts';
import { eraseAgents } from './agents.repo.ts';
import { agentRoutes } from './agents.routes.ts';
import { agentEnded, agentRevoked, mustBeUsable, revokeAgentsOfAccount } from './manage.ts';

const tables: TableUse = {
  owns: { agents: { rate: 'plan', kib: 16 }, agent_index: { of: 'agents' } },
  reads: [
    'developers', // an agent of a stopped account is judged as suspended
    'grants', // the act of a closed account counts those that end with each agent
  ],
  writes: [],
};

const quotas = {
  agents: {
    free: 500,
    pro: 5000,
    enterprise: 'unlimited',
    describes: 'agents that are not revoked',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

interface Named {
  readonly name: string;
}

const acts = {
  'agent.created': act<Named>(),
  'agent.updated': act<Named & { readonly changed: readonly string[] }>(),
  'agent.suspended': act<Named>(),
  'agent.resumed': act<Named>(),
  'agent.revoked': act<Named & { readonly revokedGrants: number }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const agents = defineFeature({
  name: 'agents',
  tags: { agents: 'The programs that act for principals.' },
  tables,
  acts,
  quotas,
  listens: [
    on(accountClosed, revokeAgentsOfAccount),
    on(keyBound, mustBeUsable),
    on(deploymentCounts, async (db) => ({ totalAgents: await countAgentsAcrossTenants(db) })),
    on(tenantErased, eraseAgents),
  ],
  open: (context) => ({
    routes: (app) =>
      agentRoutes(app, {
        ...context,
        onAgentRevoked: context.listenersOf(agentRevoked),
        onAgentEnded: context.listenersOf(agentEnded),
      }),
  }),
});
