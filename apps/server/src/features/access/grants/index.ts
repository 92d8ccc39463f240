export { revokeGrant, revokeGrantsOfPrincipal, revokeGrantWithin } from './grants.revoke.service.ts';
export { grantStatus } from './grants.rules.ts';
