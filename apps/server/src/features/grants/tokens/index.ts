export type { GrantClaims as VerifiedClaims } from '@behest/protocol/claims';
export {
  type Assertable,
  type AssertedGrant,
  type AssertedTokens,
  assertableAgent,
  heldAsserted,
  newAsserted,
  type PreparedAssertion,
  prepareAsserted,
  writeAsserted,
} from './assert.ts';
export { type DelegateDeps, delegate } from './delegate.ts';
export { exchangeCode, exchangeRequest, type TokensOfCode } from './exchange.ts';
export type { TokenDeps } from './issue.ts';
export {
  assess,
  findGenuine,
  grantTokenVerifier,
  type LookedUpToken,
  type LookUpDeps,
  lookUp,
  storedToken,
  type VerifyOwn,
} from './look-up.ts';
export { currentNonce, isFirstUse, PROOF_ALGS, type ProofDeps, provedKey } from './proof.ts';
export { refreshTokens } from './refresh.ts';
export { exchangeForResource } from './resource.ts';
export { revokeByRefreshToken, revokeToken } from './revoke.ts';
export type { RequestedToken } from './tokens.rules.ts';
export type { DelegatedTokens, IssuedTokens, TokenIntrospection } from './tokens.schema.ts';
export { tokenParts } from './tokens.settings.ts';
export { introspectToken } from './verify.ts';
