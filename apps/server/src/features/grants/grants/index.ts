export { grantStatus, grantsRead, type OnGrantsRead } from './list.ts';
export { noteRenewals } from './require-consent.ts';
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
