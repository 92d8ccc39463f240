export { revokeGrant, revokeGrantsOfAgent } from './grants.revoke.service.ts';
export { grantRoutes } from './grants.routes.ts';
export { findGrantFacts, type GrantDeps } from './grants.service.ts';
