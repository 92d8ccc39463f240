import type { GrantClaims } from './claims.ts';
import { readGrantClaims } from './claims-reading.ts';
import type { VerificationJwk } from './key-set.ts';
import {
  afterSignature,
  beforeSignature,
  type Expected,
  isGenuine,
  isGenuineLater,
  mustBeTolerances,
  type SignatureToCheck,
  type Verified,
  type VerifierSetup,
} from './token-checks.ts';
import { isTime } from './token-kinds.ts';
import { type Refused, refused } from './token-refusal.ts';
import { type Developers, developersOf, type Takes } from './whose-tokens.ts';

export type { SignatureToCheck } from './token-checks.ts';

/** The circumstances in which a grant token is verified. */
export interface ExpectedGrant extends Expected {
  /**
   * The thumbprint of the key whose DPoP proof the caller has verified (RFC 9449). The token has to be bound to
   * exactly this key; without it, the token has to be bound to no key.
   */
  readonly provedKeyThumbprint?: string;
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
}

/** The verifier that `createAsyncTokenVerifier` makes. It never rejects for a token. */
export interface AsyncTokenVerifier {
  /** Verifies a grant token, as `TokenVerifier.verify` does. */
  verify(token: unknown, expected: ExpectedGrant): Promise<VerifiedGrant | Refused>;
}

/**
 * Makes a verifier of grant tokens. The verifier checks form, algorithm, key, signature, issuer, times, audience,
 * claims and developer, in this order, and answers the first refusal. A signature that cannot be checked is
 * `bad_signature`.
 *
 * @param setup.developerId the developer whose tokens it takes, or a list of 1 to 100
 * @param setup.allowSandbox true to take tokens of sandbox accounts
 * @param setup.verifySignature checks one signature with a key; an exception counts as false
 * @throws TypeError without `developerId`
 * @throws RangeError when a tolerance is not 0 to 60 seconds, or the list is empty or too long
 * @see RFC 8725
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
 *   developerId: 'dev_01KAFZ5W8N4T6Q2R9M3X7Y1VBC', // all accounts of the service sign with the same keys
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
  setup: VerifierSetup<Key> &
    Developers & { readonly verifySignature: (check: SignatureToCheck<Key>) => boolean },
): TokenVerifier {
  mustBeTolerances(setup);
  const takes = developersOf(setup);
  return {
    verify(token, expected) {
      const ready = beforeSignature(setup, 'grant', token);
      if (!ready.ok) return ready;
      if (!isGenuine(setup, ready.check)) return refused('bad_signature');
      return withClaims(
        setup,
        takes,
        afterSignature(setup, ready.parts, { kind: 'grant', ...expected }),
        expected,
      );
    },
  };
}

/**
 * Makes a verifier of grant tokens whose signature check is asynchronous, such as that of WebCrypto.
 *
 * @throws TypeError and RangeError as `createTokenVerifier`
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
 * const verifier = createAsyncTokenVerifier({ issuer, developerId, keys: () => keys, verifySignature });
 * const result = await verifier.verify(token, { now: new Date() });
 * ```
 */
export function createAsyncTokenVerifier<Key extends VerificationJwk>(
  setup: VerifierSetup<Key> &
    Developers & { readonly verifySignature: (check: SignatureToCheck<Key>) => Promise<boolean> },
): AsyncTokenVerifier {
  mustBeTolerances(setup);
  const takes = developersOf(setup);
  return {
    async verify(token, expected) {
      const ready = beforeSignature(setup, 'grant', token);
      if (!ready.ok) return ready;
      if (!(await isGenuineLater(setup, ready.check))) return refused('bad_signature');
      return withClaims(
        setup,
        takes,
        afterSignature(setup, ready.parts, { kind: 'grant', ...expected }),
        expected,
      );
    },
  };
}

function withClaims(
  { issuer }: { readonly issuer: string },
  takes: Takes,
  verified: Verified | Refused,
  { provedKeyThumbprint }: ExpectedGrant,
): VerifiedGrant | Refused {
  if (!verified.ok) return verified;
  const read = readGrantClaims(verified.payload);
  if (!read.ok) return read;
  const fault = takes(read.claims);
  if (fault) return refused(fault);
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
