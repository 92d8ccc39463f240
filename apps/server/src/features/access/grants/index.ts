export {
  holdDelegations,
  revokeActiveGrantsOfAgent,
  revokeGrant,
  revokeGrantsOfPrincipal,
  revokeGrantsOfToken,
  revokeGrantWithin,
} from './grants.revoke.service.ts';
export { grantStatus } from './grants.rules.ts';
