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
export type { DelegatedTokens } from './delegate.schema.ts';
export { type DelegateDeps, delegate } from './delegate.ts';
export { exchangeCode, exchangeRequest, type TokensOfCode } from './exchange.ts';
export type { TokenWish } from './form.rules.ts';
export type { TokenDeps } from './issue.ts';
export {
  assess,
  findGenuine,
  type Known,
  type LookUpDeps,
  lookUp,
  storedToken,
} from './look-up.ts';
export { currentNonce, PROOF_ALGS, type ProofDeps, provedKey } from './proof.ts';
export { refreshTokens } from './refresh.ts';
export { exchangeForResource } from './resource.ts';
export { revokeByRefreshToken, revokeToken } from './revoke.ts';
export { isFirstUse } from './single-use.ts';
export type { Introspection, IssuedTokens } from './tokens.schema.ts';
export { tokenParts } from './tokens.settings.ts';
export { grantTokenVerifier, type VerifyOwn } from './verifier.ts';
export { introspectToken } from './verify.ts';
