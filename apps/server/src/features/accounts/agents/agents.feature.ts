import { defineFeature } from '../../../feature.ts';
import { acts } from './agents.acts.ts';
import { agentRevoked } from './agents.hooks.ts';
import { quotas } from './agents.quotas.ts';
import { agentRoutes } from './agents.routes.ts';
import { tables } from './agents.tables.ts';

export const agents = defineFeature({
  name: 'agents',
  tags: { agents: 'The programs that act for principals.' },
  knows: ['audit', 'developers', 'quotas'],
  tables,
  acts,
  quotas,
  open: (house) => ({
    routes: (app) => app.register(agentRoutes, { ...house, onAgentRevoked: house.listenersOf(agentRevoked) }),
  }),
});
