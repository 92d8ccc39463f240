export { agentRoutes } from './agents.routes.ts';
export { acceptScopes } from './agents.rules.ts';
export type { AgentDeps, OnAgentRevoked } from './agents.service.ts';
