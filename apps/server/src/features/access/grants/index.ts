export { revokeGrant, revokeGrantsOfPrincipal } from './grants.revoke.service.ts';
export { grantStatus } from './grants.rules.ts';
