import { BehestError, BehestNetworkError } from '../errors.ts';
import type { VerifiedGrant } from '../verify/verified-grant.ts';
import { createVerifier, type PresentedProof, type Verifier, type VerifyOptions } from '../verify.ts';

/** The algorithms of proofs that a challenge names. */
export const PROOF_ALGS = ['ES256', 'RS256', 'EdDSA'];

/** The settings of every middleware. */
export interface GuardOptions extends Omit<VerifyOptions, 'requiredScopes' | 'dpop'> {
  /** Reads the token from somewhere else than the header `Authorization`. */
  readonly tokenExtractor?: (authorization: string | undefined) => string | undefined;
  /** Hears each failure that is answered with 503. */
  readonly onError?: (error: unknown) => void;
  /** Takes tokens that are bound to keys, with the proof of each request. Without it such tokens are refused. */
  readonly dpop?: ProofRules;
}

/** How a server checks proofs of possession (RFC 9449). */
export interface ProofRules {
  /** The address of this server as its clients see it, such as `https://api.example.com`. A `Host` header may lie. */
  readonly origin: string;
  /** As in `PresentedProof`. */
  readonly seen?: PresentedProof['seen'];
}

/** The parts of a request that a proof names. */
export interface GuardedRequest {
  readonly method: string;
  /** With its query, or without. */
  readonly path: string;
  /** The header `DPoP`. */
  readonly proof: string | undefined;
}

/** An answer of a middleware that lets a request no further. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly code: string;
    readonly message: string;
    readonly error: string;
    readonly reason_code?: string;
    readonly sub_reason?: string | null;
    readonly details?: object;
  };
}

export type Guarded =
  | { readonly ok: true; readonly grant: VerifiedGrant; readonly token: string }
  | { readonly ok: false; readonly refusal: Refusal };

/** Decides about the `Authorization` of a request. */
export type Guard = (authorization: string | undefined, request?: GuardedRequest) => Promise<Guarded>;

/** Parameters of the challenge besides `error`, as `resource_metadata="…"`. */
type Challenge = readonly string[];

/**
 * Makes a guard, once for all requests.
 *
 * @throws BehestError without `developerId`
 */
export function guardOf(options: GuardOptions): Guard {
  if (options.audience === undefined) warnOnce();
  const { dpop: _, ...settings } = options;
  return guardBy(createVerifier(settings), options);
}

/** @param challenge parameters of the challenge besides `error`, as `resource_metadata="…"` */
export function guardBy(
  verifier: Pick<Verifier, 'detailed'>,
  { tokenExtractor, onError, dpop }: Pick<GuardOptions, 'tokenExtractor' | 'onError' | 'dpop'>,
  challenge: Challenge = [],
): Guard {
  const refuse = (refusal: Refusal): Guarded => ({
    ok: false,
    refusal: dpop ? withProofs(refusal) : refusal,
  });

  return async (authorization, request = { method: '', path: '/', proof: undefined }) => {
    const bound = dpop && tokenExtractor === undefined ? boundToken(authorization) : undefined;
    const token = bound ?? (tokenExtractor ?? bearerToken)(authorization);
    if (!token) return refuse(unauthorized('TOKEN_MISSING', 'The request has no bearer token.', challenge));
    const presented =
      dpop && (bound !== undefined || (tokenExtractor && request.proof !== undefined))
        ? presentedProof(dpop, request)
        : undefined;
    try {
      const result = await verifier.detailed(token, presented);
      if (result.ok) return { ok: true, grant: result.grant, token };
      return result.reason === 'expired'
        ? refuse(unauthorized('TOKEN_EXPIRED', 'The token has expired.', challenge))
        : refuse(unauthorized('TOKEN_INVALID', 'The token is not valid here.', challenge));
    } catch (error) {
      onError?.(error);
      if (!(error instanceof BehestNetworkError)) throw error;
      return refuse(
        refusalOf(503, 'KEYS_UNAVAILABLE', 'The token cannot be checked now.', { 'retry-after': '30' }),
      );
    }
  };
}

/** The scheme is compared without case (RFC 9110, section 11.1). A query or a body is never read. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return tokenOf(authorization, 'bearer');
}

/** The token of the scheme for tokens that are bound to keys (RFC 9449, section 7.1). */
export function boundToken(authorization: string | undefined): string | undefined {
  return tokenOf(authorization, 'dpop');
}

/**
 * The proof of a request, at the address that the client has called. The request line is the sender's: only a path
 * counts in it, and an address of another host, or what is no path, fits no proof.
 */
export function presentedProof(
  { origin, seen }: ProofRules,
  { method, path, proof }: GuardedRequest,
): PresentedProof {
  const isPath = /^\/(?!\/)/.test(path);
  return { proof, method, url: isPath ? new URL(origin).origin + path : '', ...(seen && { seen }) };
}

const tokenOf = (authorization = '', scheme: 'bearer' | 'dpop') =>
  new RegExp(`^${scheme} +([^\\s,]+) *$`, 'i').exec(authorization)?.[1];

/** Adds the challenge of proofs to a challenge of tokens (RFC 9449, section 7.1). */
export function withProofs(refusal: Refusal): Refusal {
  const { 'www-authenticate': challenge, ...headers } = refusal.headers;
  if (challenge === undefined) return refusal;
  const both = `${challenge}, DPoP algs="${PROOF_ALGS.join(' ')}"`;
  return { ...refusal, headers: { ...headers, 'www-authenticate': both } };
}

/** A header that came twice is a list, and no proof. */
export const oneHeader = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

export function unauthorized(code: string, message: string, challenge: Challenge): Refusal {
  const error = code === 'TOKEN_MISSING' ? [] : ['error="invalid_token"'];
  const parameters = [...error, ...challenge];
  const value = parameters.length > 0 ? `Bearer ${parameters.join(', ')}` : 'Bearer';
  return refusalOf(401, code, message, { 'www-authenticate': value });
}

/** @param scopes every scope that the request needs, so that one step of consent is enough */
export function insufficientScope(scopes: readonly string[], challenge: Challenge = []): Refusal {
  const parameters = ['error="insufficient_scope"', `scope="${scopes.join(' ')}"`, ...challenge];
  const message = 'The token lacks a scope that this request needs.';
  return refusalOf(403, 'SCOPE_INSUFFICIENT', message, {
    'www-authenticate': `Bearer ${parameters.join(', ')}`,
  });
}

export function refusalOf(
  status: Refusal['status'],
  code: string,
  message: string,
  headers: Readonly<Record<string, string>>,
): Refusal {
  return {
    status,
    headers: { ...headers, 'cache-control': 'no-store' },
    body: { code, message, error: code },
  };
}

let hasWarned = false;

function warnOnce(): void {
  if (hasWarned) return;
  hasWarned = true;
  const warning = 'behest: without `audience`, tokens for other resources pass here.';
  // biome-ignore lint/suspicious/noConsole: the only place that every runtime shows to an operator
  console.warn(warning);
}

/** The mistake of asking for scopes where no token was asked for. */
export function noGrant(): BehestError {
  return new BehestError('CONFIGURATION', 'requireScopes has to come after requireGrantToken.');
}
