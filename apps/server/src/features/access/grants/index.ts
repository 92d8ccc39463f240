export { expiryOfGrants } from './grants.jobs.ts';
export { revokeGrant, revokeGrantsOfAgent, revokeGrantsOfPrincipal } from './grants.revoke.service.ts';
export { grantRoutes } from './grants.routes.ts';
export { grantStatus } from './grants.rules.ts';
