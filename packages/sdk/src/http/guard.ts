import { BehestError, BehestNetworkError } from '../errors.ts';
import type { VerifiedGrant } from '../verify/verified-grant.ts';
import { createVerifier, type Verifier, type VerifyOptions } from '../verify.ts';

/** The settings of every middleware. */
export interface GuardOptions extends Omit<VerifyOptions, 'requiredScopes'> {
  /** Reads the token from somewhere else than the header `Authorization`. */
  readonly tokenExtractor?: (authorization: string | undefined) => string | undefined;
  /** Hears each failure that is answered with 503. */
  readonly onError?: (error: unknown) => void;
}

/** An answer of a middleware that lets a request no further. */
export interface Refusal {
  readonly status: 401 | 403 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly code: string; readonly message: string; readonly error: string };
}

export type Guarded =
  | { readonly ok: true; readonly grant: VerifiedGrant; readonly token: string }
  | { readonly ok: false; readonly refusal: Refusal };

/** Decides about the `Authorization` of a request. */
export type Guard = (authorization: string | undefined) => Promise<Guarded>;

/** Parameters of the challenge besides `error`, as `resource_metadata="…"`. */
type Challenge = readonly string[];

/**
 * Makes a guard, once for all requests.
 *
 * @throws BehestError without `developerId`
 */
export function guardOf(options: GuardOptions, challenge: Challenge = []): Guard {
  const { tokenExtractor = bearerToken, onError } = options;
  const verifier: Verifier = createVerifier(options);
  if (options.audience === undefined) warnOnce();
  const refuse = (refusal: Refusal): Guarded => ({ ok: false, refusal });

  return async (authorization) => {
    const token = tokenExtractor(authorization);
    if (!token) return refuse(unauthorized('TOKEN_MISSING', 'The request has no bearer token.', challenge));
    try {
      const result = await verifier.detailed(token);
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
function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([^\s,]+) *$/i.exec(authorization ?? '')?.[1];
}

function unauthorized(code: string, message: string, challenge: Challenge): Refusal {
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

function refusalOf(
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
