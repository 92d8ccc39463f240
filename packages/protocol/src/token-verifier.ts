import type { GrantClaims } from './claims.ts';
import { readGrantClaims } from './claims-reading.ts';
import { findKey, type KeySet, type OneKey, signatureLength, type VerificationJwk } from './key-set.ts';
import { type TokenKindName, tokenKinds } from './token-kinds.ts';
import { readTokenParts, type TokenAlgorithm, type TokenHeader, type TokenParts } from './token-parts.ts';
import { type Refused, refused } from './token-refusal.ts';
import { checkTimes, isTime, type TimeRules } from './token-times.ts';

/** The input of a signature check. An ES256 signature is r and s, 32 bytes each (RFC 7518, section 3.4). */
export interface SignatureToCheck<Key> {
  readonly alg: TokenAlgorithm;
  readonly key: Key;
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/** The settings of a verifier. */
export interface VerifierSetup<Key extends VerificationJwk> extends TimeRules {
  /** The verifier calls this for each token, so that keys may change while the verifier lives. */
  readonly keys: () => KeySet<Key> | OneKey<Key>;
  /** The value that `iss` has to have, byte for byte. */
  readonly issuer: string;
}

/** The circumstances of one verification. */
export interface Expected {
  readonly now: Date;
  /** The audience that the token has to name. Without it the verifier accepts a token for any audience. */
  readonly audience?: string;
}

/** The circumstances in which a grant token is verified. */
export interface ExpectedGrant extends Expected {
  /**
   * The thumbprint of the key whose DPoP proof the caller has verified (RFC 9449). The token has to be bound to
   * exactly this key; without it, the token has to be bound to no key.
   */
  readonly provedKeyThumbprint?: string;
}

/** The circumstances in which a token of another kind is verified. */
export interface ExpectedOther extends Expected {
  /** The issuer of a kind whose issuer is not the service's URL. A credential has the service's DID. */
  readonly issuer?: string;
}

/** A kind of token other than a grant token. */
export type OtherKind = Exclude<TokenKindName, 'grant'>;

/** A token with a good signature, issuer, audience and time. */
export interface Verified {
  readonly ok: true;
  readonly header: TokenHeader;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A verified grant token with its facts. */
export interface VerifiedGrant extends Verified {
  readonly claims: GrantClaims;
}

/** The verifier that `createTokenVerifier` makes. It never throws for a token. */
export interface TokenVerifier {
  /**
   * Verifies a grant token or OAuth access token without a database. The result does not say whether the grant was
   * revoked; ask `POST /v1/tokens/verify` for that.
   */
  verify(token: unknown, expected: ExpectedGrant): VerifiedGrant | Refused;
  /** Verifies a token of another kind. The caller checks the claims that are special to the kind. */
  verifyAs(kind: OtherKind, token: unknown, expected: ExpectedOther): Verified | Refused;
}

/** The verifier that `createAsyncTokenVerifier` makes. It never rejects for a token. */
export interface AsyncTokenVerifier {
  /** Verifies a grant token, as `TokenVerifier.verify` does. */
  verify(token: unknown, expected: ExpectedGrant): Promise<VerifiedGrant | Refused>;
  /** Verifies a token of another kind, as `TokenVerifier.verifyAs` does. */
  verifyAs(kind: OtherKind, token: unknown, expected: ExpectedOther): Promise<Verified | Refused>;
}

/**
 * Makes a verifier of tokens. The verifier checks form, algorithm, key, signature, issuer, times, audience and
 * claims, in this order, and answers the first refusal. A signature that cannot be checked is `bad_signature`.
 *
 * @param setup.verifySignature checks one signature with a key; an exception counts as false
 * @throws RangeError when a tolerance is not 0 to 60 seconds
 * @see the interface specification, Authentication rule 3; RFC 8725
 *
 * @example
 * ```ts
 * import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
 * import { keySetOf } from '@behest/protocol/key-set';
 * import { createTokenVerifier } from '@behest/protocol/token-verifier';
 *
 * const keys = keySetOf(await (await fetch('https://auth.example.com/.well-known/jwks.json')).json());
 * const verifier = createTokenVerifier({
 *   issuer: 'https://auth.example.com',
 *   keys: () => keys,
 *   verifySignature: ({ key, signed, signature }) => {
 *     const publicKey = createPublicKey({ key: key as JsonWebKey, format: 'jwk' });
 *     return verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
 *   },
 * });
 *
 * const result = verifier.verify(token, { now: new Date(), audience: 'https://api.example.com' });
 * if (!result.ok) throw new Error(`The token was refused: ${result.reason}`);
 * const { principalId, agentDid, scopes } = result.claims;
 * ```
 */
export function createTokenVerifier<Key extends VerificationJwk>(
  setup: VerifierSetup<Key> & { readonly verifySignature: (check: SignatureToCheck<Key>) => boolean },
): TokenVerifier {
  mustBeTolerances(setup);
  const isGenuine = (check: SignatureToCheck<Key>) => {
    try {
      return setup.verifySignature(check);
    } catch {
      return false; // the key is unusable, so the signature proves nothing
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
 * Makes a verifier whose signature check is asynchronous, such as that of WebCrypto.
 *
 * @throws RangeError as `createTokenVerifier`
 *
 * @example
 * ```ts
 * const verifySignature = async ({ alg, key, signed, signature }: SignatureToCheck<VerificationJwk>) => {
 *   const algorithm =
 *     alg === 'RS256'
 *       ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
 *       : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
 *   const imported = await crypto.subtle.importKey('jwk', key as JsonWebKey, algorithm, false, ['verify']);
 *   return crypto.subtle.verify(algorithm, imported, signature, signed);
 * };
 * const verifier = createAsyncTokenVerifier({ issuer, keys: () => keys, verifySignature });
 * const result = await verifier.verify(token, { now: new Date() });
 * ```
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
      return false; // the key is unusable, so the signature proves nothing
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
    if (!(seconds >= 0 && seconds <= 60))
      throw new RangeError(`The tolerance ${seconds} is out of range: use 0 to 60 seconds.`);
  }
}

/** Makes every refusal that needs no signature check, and prepares that check. */
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
  // Some primitives accept DER, padding or a cut signature. The exact length refuses all three.
  if (signature.length !== signatureLength(header.alg, found.key)) return refused('bad_signature');
  return { ok: true, parts, check: { alg: header.alg, key: found.key, signed, signature } };
}

/** Checks the claims that every kind of token has in common. */
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
