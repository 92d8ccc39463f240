export { grantStatus } from './grants.rules.ts';
export { grantsRead, type OnGrantsRead } from './list.ts';
export { noteRenewals } from './renewals.ts';
export {
  countEnded,
  holdDelegations,
  revokeActiveGrantsOfAgent,
  revokeGrant,
  revokeGrantsOfPrincipal,
  revokeGrantsOfToken,
  revokeGrantsWithin,
  revokeGrantWithin,
} from './revoke.ts';
