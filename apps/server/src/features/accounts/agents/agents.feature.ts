import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../developers/index.ts';
import { acts } from './agents.acts.ts';
import { agentRevoked } from './agents.hooks.ts';
import { quotas } from './agents.quotas.ts';
import { eraseAgents } from './agents.repo.ts';
import { agentRoutes } from './agents.routes.ts';
import { revokeAgentsOfAccount } from './agents.service.ts';
import { tables } from './agents.tables.ts';

export const agents = defineFeature({
  name: 'agents',
  tags: { agents: 'The programs that act for principals.' },
  tables,
  acts,
  quotas,
  listens: [on(accountClosed, revokeAgentsOfAccount), on(tenantErased, eraseAgents)],
  open: (house) => ({
    routes: (app) => app.register(agentRoutes, { ...house, onAgentRevoked: house.listenersOf(agentRevoked) }),
  }),
});
