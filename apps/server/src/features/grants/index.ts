export { revokeGrant, revokeGrantsOfAgent } from './grants.revoke.service.ts';
export { grantRoutes } from './grants.routes.ts';
export { findGrantFacts } from './grants.service.ts';
