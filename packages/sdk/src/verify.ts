import type { RevocationCheck } from '@behest/protocol/enforcement/ports';
import type { TokenRefusal } from '@behest/protocol/token-refusal';
import { BehestError, BehestNetworkError, BehestTokenError } from './errors.ts';
import type { PresentedProof } from './verify/dpop-proof.ts';
import type { Fetch } from './verify/fetch-keys.ts';
import type { KeyCache } from './verify/key-cache.ts';
import { provedKey } from './verify/proved-key.ts';
import { missingScopes } from './verify/scopes.ts';
import { sharedVerifiers } from './verify/shared-verifiers.ts';
import { issuerKeysOf, type TokenAnswer, tokenSource } from './verify/token-source.ts';
import { grantOf, type VerifiedGrant } from './verify/verified-grant.ts';

export { BehestError, BehestNetworkError, BehestTokenError } from './errors.ts';
export type { PresentedProof } from './verify/dpop-proof.ts';
export { type KeyCache, keyCache, preloadJwks } from './verify/key-cache.ts';
export { missingScopes } from './verify/scopes.ts';
export type { VerifiedGrant } from './verify/verified-grant.ts';

export interface VerifyOptions {
  /** The address of the issuer's keys, such as `https://auth.example.com/.well-known/jwks.json`. */
  readonly jwksUri: string;
  /** Whose tokens are taken: one id, or a list of 1 to 100. All accounts of a service sign with the same keys. */
  readonly developerId: string | readonly string[];
  /** True to take tokens of sandbox accounts, which no person has approved. Default: false. */
  readonly allowSandbox?: boolean;
  /** Default: `jwksUri` without `/.well-known/jwks.json`. */
  readonly issuer?: string;
  /** The issuer by its DID, in the place of `issuer`: `did:web:auth.example.com`. */
  readonly issuerDid?: string;
  /** The audience that the token has to name. Without it, a token for another resource passes here. */
  readonly audience?: string;
  /** Scopes that the token has to cover. */
  readonly requiredScopes?: readonly string[];
  /** Seconds after `exp` for which a token is still taken: 0 to 60. Default: 5. */
  readonly clockTolerance?: number;
  /** The most seconds since `iat`, because a revocation is not seen offline. */
  readonly maxAge?: number;
  /** Sees revocations: `revocations()` of a client. */
  readonly revocation?: RevocationCheck;
  readonly fetch?: Fetch;
  /** Seconds for which old keys serve while the issuer cannot be reached. Default: 86400. */
  readonly staleIfError?: number;
  /** Where keys are kept: `keyCache()`. Default: the cache of the process. */
  readonly cache?: KeyCache;
  /** The request that came with the token, where tokens are bound to keys. Without it such a token is refused. */
  readonly dpop?: PresentedProof;
}

/** The answer about a token. */
export type Detailed =
  | { readonly ok: true; readonly grant: VerifiedGrant }
  | {
      readonly ok: false;
      readonly reason: TokenRefusal | 'missing_scopes' | 'revoked';
      readonly missing?: readonly string[];
    };

/** A verifier with its settings, for many tokens. */
export interface Verifier {
  /**
   * @returns the facts of the token
   * @throws BehestTokenError for a bad token; BehestNetworkError when the issuer's keys, or the state of the grant,
   *   cannot be had
   */
  verify(token: string, proof?: PresentedProof): Promise<VerifiedGrant>;
  /** @throws BehestNetworkError, and never for a bad token */
  detailed(token: string, proof?: PresentedProof): Promise<Detailed>;
}

/**
 * Makes a verifier of grant tokens. It remembers verified tokens, and needs no account.
 *
 * @throws BehestError without `developerId`, or for a wrong address
 *
 * @example
 * ```ts
 * import { createVerifier } from '@behest/sdk/verify';
 *
 * const verifier = createVerifier({
 *   jwksUri: 'https://auth.example.com/.well-known/jwks.json',
 *   developerId: 'dev_01KAFZ5W8N4T6Q2R9M3X7Y1VBC', // yours: all accounts of the service sign with the same keys
 *   audience: 'https://api.example.com',
 * });
 * const { principalId, scopes } = await verifier.verify(token);
 * ```
 */
export function createVerifier(options: VerifyOptions, clock: () => number = Date.now): Verifier {
  const { requiredScopes = [], maxAge, revocation, dpop } = options;
  const source = sourceOf(options, clock);
  const isTooOld = ({ issuedAt }: VerifiedGrant) =>
    maxAge !== undefined && !(issuedAt && clock() - issuedAt.getTime() <= maxAge * 1_000);

  async function detailed(token: string, proof = dpop): Promise<Detailed> {
    const proved = proof && (await provedKey(proof, token, clock));
    if (proof && proved === undefined) return { ok: false, reason: 'dpop_required' };
    const answer = await source.verify(token, proved);
    if (!answer.ok && answer.reason === 'keys_unavailable') {
      throw new BehestNetworkError('The keys of the issuer could not be fetched.');
    }
    if (!answer.ok) return answer;
    const grant = grantOf(answer);
    if (isTooOld(grant)) return { ok: false, reason: 'expired' };
    const status = (await revocation?.check(answer)) ?? 'active';
    if (status === 'unavailable') throw new BehestNetworkError('The state of the grant could not be had.');
    if (status !== 'active') return { ok: false, reason: 'revoked' };
    const missing = missingScopes(grant, requiredScopes);
    return missing.length > 0 ? { ok: false, reason: 'missing_scopes', missing } : { ok: true, grant };
  }
  return {
    detailed,
    async verify(token, proof) {
      const result = await detailed(token, proof);
      if (!result.ok) throw new BehestTokenError(result.reason, result.missing);
      return result.grant;
    },
  };
}

/** Verifies one token. @throws as `Verifier.verify`, and as `createVerifier` */
export async function verifyGrantToken(
  token: string,
  { dpop, ...options }: VerifyOptions,
): Promise<VerifiedGrant> {
  return sharedVerifier(options).verify(token, dpop);
}

/** Verifies one token, and throws for none. @throws as `Verifier.detailed`, and as `createVerifier` */
export async function verifyGrantTokenDetailed(
  token: string,
  { dpop, ...options }: VerifyOptions,
): Promise<Detailed> {
  return sharedVerifier(options).detailed(token, dpop);
}

const sharedVerifier = sharedVerifiers((options: VerifyOptions) => createVerifier(options, () => Date.now()));

/** @throws BehestError for settings that no verifier can have */
function sourceOf(
  options: VerifyOptions,
  clock: () => number = Date.now,
): { verify(token: string, provedKey?: string): TokenAnswer | Promise<TokenAnswer> } {
  const {
    jwksUri,
    issuerDid,
    issuer = issuerDid === undefined ? issuerOf(jwksUri) : issuerOfDid(issuerDid),
    developerId,
    allowSandbox,
    audience,
    clockTolerance,
  } = options;
  try {
    const keys = issuerKeysOf(jwksUri, options);
    return tokenSource(
      {
        ...{ issuer, keys, developerId },
        ...(allowSandbox !== undefined && { allowSandbox }),
        ...(audience !== undefined && { audience }),
        ...(clockTolerance !== undefined && { clockTolerance }),
      },
      clock,
    );
  } catch (error) {
    if (error instanceof BehestError) throw error;
    throw new BehestError('CONFIGURATION', error instanceof Error ? error.message : String(error));
  }
}

function issuerOf(jwksUri: string): string {
  return jwksUri.replace(/\/\.well-known\/jwks\.json$/, '');
}

/**
 * The address of the issuer that a DID names. An issuer on this machine is asked over http.
 *
 * @throws BehestError for a DID of another method
 * @see https://w3c-ccg.github.io/did-method-web/, section 3.2: a colon separates paths, and that of a port is escaped
 */
function issuerOfDid(did: string): string {
  const [host = '', ...path] = did.startsWith('did:web:') ? did.slice(8).split(':') : [];
  const isLocal = /^(?:localhost|127\.0\.0\.1)(?:%3a|$)/i.test(host);
  const url = [`http${isLocal ? '' : 's'}://${host.replace(/%3a/i, ':')}`, ...path].join('/');
  if (/^[\w.%-]+$/.test(host) && URL.canParse(url)) return url;
  throw new BehestError('CONFIGURATION', `No issuer: ${did}`);
}
