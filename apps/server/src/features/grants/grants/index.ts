export { noteRenewals } from './grants.renewals.service.ts';
export {
  countEnded,
  holdDelegations,
  revokeActiveGrantsOfAgent,
  revokeGrant,
  revokeGrantsOfPrincipal,
  revokeGrantsOfToken,
  revokeGrantsWithin,
  revokeGrantWithin,
} from './grants.revoke.service.ts';
export { grantStatus } from './grants.rules.ts';
