export { grantStatus, grantsRead, type OnGrantsRead } from './list.ts';
export { callsCounted } from './preview.ts';
export { requireNewConsent } from './require-consent.ts';
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
