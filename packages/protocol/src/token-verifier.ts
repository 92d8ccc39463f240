import type { GrantClaims } from './claims.ts';
import { readGrantClaims } from './claims-reading.ts';
import { findKey, type KeySet, type OneKey, signatureLength, type VerificationJwk } from './key-set.ts';
import { type TokenKindName, tokenKinds } from './token-kinds.ts';
import { readTokenParts, type TokenAlgorithm, type TokenHeader, type TokenParts } from './token-parts.ts';
import { type Refused, refused } from './token-refusal.ts';
import { checkTimes, isTime, type TimeRules } from './token-times.ts';

/** One signature to check: with this key, over these bytes. ES256 signatures are r and s, 32 bytes each. */
export interface SignatureToCheck<Key> {
  readonly alg: TokenAlgorithm;
  readonly key: Key;
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

export interface VerifierSetup<Key extends VerificationJwk> extends TimeRules {
  /** Asked for each token, so that keys may be rotated or fetched anew while the verifier lives. */
  readonly keys: () => KeySet<Key> | OneKey<Key>;
  /** What `iss` has to be, byte for byte. */
  readonly issuer: string;
}

export interface Expected {
  readonly now: Date;
  /** Has to be among the token's audiences. Without it a token for any audience is taken. */
  readonly audience?: string;
}

export interface ExpectedGrant extends Expected {
  /**
   * The thumbprint of the key whose DPoP proof came with the token and has been verified (RFC 9449). It has
   * to be the one the token is bound to, and a token that is bound to none needs none.
   */
  readonly provedKeyThumbprint?: string;
}

export interface ExpectedOther extends Expected {
  /** Where the kind has another issuer than the service's URL, as credentials have its DID. */
  readonly issuer?: string;
}

export type OtherKind = Exclude<TokenKindName, 'grant'>;

export interface Verified {
  readonly ok: true;
  readonly header: TokenHeader;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface VerifiedGrant extends Verified {
  readonly claims: GrantClaims;
}

export interface TokenVerifier {
  /** Verifies a grant token or OAuth access token, as far as that can be done without a database. */
  verify(token: unknown, expected: ExpectedGrant): VerifiedGrant | Refused;
  /** Verifies a token of another kind. What its claims have to say is for whoever asks to check. */
  verifyAs(kind: OtherKind, token: unknown, expected: ExpectedOther): Verified | Refused;
}

export interface AsyncTokenVerifier {
  /** As `TokenVerifier.verify`. */
  verify(token: unknown, expected: ExpectedGrant): Promise<VerifiedGrant | Refused>;
  /** As `TokenVerifier.verifyAs`. */
  verifyAs(kind: OtherKind, token: unknown, expected: ExpectedOther): Promise<Verified | Refused>;
}

/**
 * Makes the one verifier of tokens, the service's own and others'. It answers, and never throws, whatever token
 * it is given: a signature that cannot even be checked is a bad one.
 *
 * @param setup.verifySignature the primitive; every other check is done here, before or after it
 * @throws RangeError when a tolerance is negative or longer than 60 seconds
 * @see the interface specification, Authentication rule 3; RFC 8725
 */
export function createTokenVerifier<Key extends VerificationJwk>(
  setup: VerifierSetup<Key> & { readonly verifySignature: (check: SignatureToCheck<Key>) => boolean },
): TokenVerifier {
  mustBeTolerances(setup);
  const isGenuine = (check: SignatureToCheck<Key>) => {
    try {
      return setup.verifySignature(check);
    } catch {
      return false; // the key is unusable, and what nobody can check is not genuine
    }
  };
  const verifyAs = (kind: TokenKindName, token: unknown, expected: ExpectedOther) => {
    const ready = beforeSignature(setup, kind, token);
    if (!ready.ok || !isGenuine(ready.check)) return ready.ok ? refused('bad_signature') : ready;
    return afterSignature(setup, ready.parts, { kind, ...expected });
  };
  return {
    verifyAs,
    verify: (token, expected) => withClaims(setup, verifyAs('grant', token, expected), expected),
  };
}

/**
 * The same verifier over an asynchronous primitive, such as that of WebCrypto.
 *
 * @throws RangeError as `createTokenVerifier`
 */
export function createAsyncTokenVerifier<Key extends VerificationJwk>(
  setup: VerifierSetup<Key> & {
    readonly verifySignature: (check: SignatureToCheck<Key>) => Promise<boolean>;
  },
): AsyncTokenVerifier {
  mustBeTolerances(setup);
  const isGenuine = async (check: SignatureToCheck<Key>) => {
    try {
      return await setup.verifySignature(check);
    } catch {
      return false; // as above
    }
  };
  const verifyAs = async (kind: TokenKindName, token: unknown, expected: ExpectedOther) => {
    const ready = beforeSignature(setup, kind, token);
    if (!ready.ok || !(await isGenuine(ready.check))) return ready.ok ? refused('bad_signature') : ready;
    return afterSignature(setup, ready.parts, { kind, ...expected });
  };
  return {
    verifyAs,
    verify: async (token, expected) => withClaims(setup, await verifyAs('grant', token, expected), expected),
  };
}

function mustBeTolerances({ expirySkewSeconds = 0, startSkewSeconds = 0 }: TimeRules): void {
  for (const seconds of [expirySkewSeconds, startSkewSeconds]) {
    if (!(seconds >= 0 && seconds <= 60)) throw new RangeError('a tolerance is 0 to 60 seconds');
  }
}

/** What can be refused without the work of checking a signature, and what is needed to check it. */
function beforeSignature<Key extends VerificationJwk>(
  { keys }: VerifierSetup<Key>,
  kind: TokenKindName,
  token: unknown,
): { ok: true; parts: TokenParts; check: SignatureToCheck<Key> } | Refused {
  const parts = readTokenParts(token, kind);
  if (!parts.ok) return parts;
  const { header, signed, signature } = parts;
  const found = findKey(header, keys());
  if (!found.ok) return found;
  // Neither DER nor anything padded or cut, which some primitives would take.
  if (signature.length !== signatureLength(header.alg, found.key)) return refused('bad_signature');
  return { ok: true, parts, check: { alg: header.alg, key: found.key, signed, signature } };
}

/** What a genuine token has to say, of whichever kind. */
function afterSignature(
  setup: VerifierSetup<VerificationJwk>,
  { header, payload }: TokenParts,
  { kind, now, audience, issuer = setup.issuer }: ExpectedOther & { kind: TokenKindName },
): Verified | Refused {
  if (tokenKinds[kind].hasIssuer && payload.iss !== issuer) return refused('issuer_mismatch');
  const fault = checkTimes(payload, { rules: setup, now, kind });
  if (fault) return refused(fault);
  if (audience !== undefined && !isFor(audience, payload.aud)) return refused('audience_mismatch');
  return { ok: true, header, payload };
}

/** The one string, or one of a list (RFC 7519, section 4.1.3): never a part of either. */
function isFor(expected: string, audience: unknown): boolean {
  return audience === expected || (Array.isArray(audience) && audience.includes(expected));
}

function withClaims(
  { issuer }: { readonly issuer: string },
  verified: Verified | Refused,
  { provedKeyThumbprint }: ExpectedGrant,
): VerifiedGrant | Refused {
  if (!verified.ok) return verified;
  const read = readGrantClaims(verified.payload);
  if (!read.ok) return read;
  if (read.claims.keyThumbprint !== provedKeyThumbprint) return refused('dpop_required');
  const { iat, exp } = verified.payload;
  const claims = {
    issuer,
    ...read.claims,
    ...(isTime(iat) && { issuedAt: dateOf(iat) }),
    expiresAt: dateOf(Number(exp)),
  };
  return { ...verified, claims };
}

function dateOf(epochSeconds: number): Date {
  return new Date(epochSeconds * 1_000);
}
