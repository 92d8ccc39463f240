import type { ErrorCode } from '@behest/protocol/errors';
import type { AppError, OAuthErrorName } from './errors.ts';

/** The error of RFC 6749 §5.2 for a refusal of the one engine that both doors lead to. */
export interface OAuthError {
  readonly error: OAuthErrorName;
  readonly error_description: string;
}

const NAMES: Partial<Readonly<Record<ErrorCode, OAuthErrorName>>> = {
  INVALID_GRANT: 'invalid_grant',
  INVALID_SCOPE: 'invalid_scope',
  POLICY_DENIED: 'access_denied',
  PLAN_LIMIT_EXCEEDED: 'access_denied',
  SSO_REQUIRED: 'access_denied',
  CONFLICT: 'access_denied',
  GONE: 'access_denied',
  INSUFFICIENT_BUDGET: 'access_denied',
  CURRENCY_MISMATCH: 'access_denied',
  PRINCIPAL_INACTIVE: 'access_denied',
  AGENT_INACTIVE: 'access_denied',
  NOT_FOUND: 'invalid_grant',
  UNAUTHORIZED: 'invalid_client',
  RATE_LIMITED: 'temporarily_unavailable',
  SERVICE_UNAVAILABLE: 'temporarily_unavailable',
  INTERNAL_ERROR: 'server_error',
};

/** Codes that say more than the name of the OAuth error; the description begins with them. */
const TOLD: ReadonlySet<ErrorCode> = new Set([
  'DELEGATION_DEPTH_EXCEEDED',
  'INVALID_PURPOSE',
  'PLAN_LIMIT_EXCEEDED',
]);

/** @see RFC 6749 §5.2 */
export function toOAuthError({ code, message, details }: AppError): OAuthError {
  const { oauth, fields, reason } = Object(details);
  const ofDetails = Array.isArray(fields) && /^authorization_?details/i.test(String(fields[0]?.path));
  const named = ofDetails ? 'invalid_authorization_details' : NAMES[code];
  const { retryAfter } = Object(details);
  const description =
    code === 'RATE_LIMITED' && retryAfter !== undefined
      ? `Rate limit exceeded, retry in ${retryAfter} seconds`
      : TOLD.has(code)
        ? `${code}: ${message}`
        : reason === 'reconsent_required'
          ? `${reason}: ${message}`
          : message;
  return { error: oauth ?? named ?? 'invalid_request', error_description: inPrintableAscii(description) };
}

/** RFC 6749 §5.2: neither quotes nor backslashes, and nothing outside ASCII. */
const inPrintableAscii = (text: string) => text.replaceAll(/[^ !#-[\]-~]/g, "'");

/** RFC 6749 §5.2: 401 for a client that is not proved, 429 and 5xx as everywhere, 400 for all else. */
export function oauthStatus({ status }: AppError): number {
  return status === 401 || status === 429 || status >= 500 ? status : 400;
}

/** Whether a request is for the part of the service that speaks OAuth. */
export const isOAuthPath = (url: string): boolean => /^\/oauth\//.test(url);
