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
} from './tokens.assert.service.ts';
export type { DelegatedTokens } from './tokens.delegate.schema.ts';
export { type DelegateDeps, delegate } from './tokens.delegate.service.ts';
export { exchangeCode, exchangeRequest, type TokensOfCode } from './tokens.exchange.service.ts';
export type { TokenWish } from './tokens.form.rules.ts';
export type { TokenDeps } from './tokens.issue.service.ts';
export {
  assess,
  findGenuine,
  type Known,
  type LookUpDeps,
  lookUp,
  storedToken,
} from './tokens.look-up.service.ts';
export { currentNonce, PROOF_ALGS, type ProofDeps, provedKey } from './tokens.proof.service.ts';
export { refreshTokens } from './tokens.refresh.service.ts';
export { exchangeForResource } from './tokens.resource.service.ts';
export { revokeByRefreshToken, revokeToken } from './tokens.revoke.service.ts';
export type { Introspection, IssuedTokens } from './tokens.schema.ts';
export { tokenDeps, tokenSettings } from './tokens.settings.ts';
export { isFirstUse } from './tokens.single-use.service.ts';
export { ownVerifier, type VerifyOwn } from './tokens.verifier.service.ts';
export { introspectToken } from './tokens.verify.service.ts';
