import { type ErrorCode, errorCodes } from '@behest/protocol/errors';

type Details = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, number>>;

/** An answer other than success, thrown from anywhere below a handler. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: Details | undefined;
  readonly headers: Headers | undefined;

  /**
   * @param message a sentence for the caller, with no secret and no stored value in it.
   * @param headers more headers for the answer, such as the state of a limit
   */
  constructor(code: ErrorCode, message: string, details?: Details, headers?: Headers) {
    super(message);
    this.code = code;
    this.details = details;
    this.headers = headers;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** One sentence for unknown, foreign and malformed ids, so that no caller can tell them apart. */
export const notFound = () => new AppError('NOT_FOUND', 'No such record.');

/** `problem` is one of the words that describe every validation failure. */
export const badField = (path: string, problem: string, message = 'The request is not valid.') =>
  new AppError('BAD_REQUEST', message, { fields: [{ path, problem }] });

/** For what a mailbox alone must not do: undo what keeps its owner safe. @throws PRINCIPAL_VERIFICATION_REQUIRED */
export function mustNotBeMailed({ isMailed }: { readonly isMailed?: boolean }): void {
  if (!isMailed) return;
  const message =
    'A mailed link is not enough for this. Sign in with your passkey, or come from the application that you use.';
  throw new AppError('PRINCIPAL_VERIFICATION_REQUIRED', message, { methods: ['passkey', 'sso'] });
}

/** A person whom the identity provider has deactivated. */
export const principalInactive = () =>
  new AppError(
    'PRINCIPAL_INACTIVE',
    'The principal was deactivated; their administrator can provision them again.',
  );

/** Also an active agent of an account that is stopped. */
export const agentInactive = () =>
  new AppError('AGENT_INACTIVE', 'The agent is suspended; resume it first.', { status: 'suspended' });

export const GRANT_TOKEN_REFUSED = 'Send `Authorization: Bearer <grant token>` with a live token.';

/** One sentence for every reason, so that nobody learns from a refusal which tokens exist. */
export const grantTokenRefused = () => new AppError('UNAUTHORIZED', GRANT_TOKEN_REFUSED);

/** The refusals that RFC 7644, section 3.12, and RFC 9865, section 2.1, name for status 400 and 409. */
export type ScimErrorType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidCursor'
  | 'invalidCount';

/** A refusal of a SCIM request. Two users with one name are a conflict, and all else is a bad request. */
export const scimRefusal = (scimType: ScimErrorType, message: string) =>
  new AppError(scimType === 'uniqueness' ? 'CONFLICT' : 'BAD_REQUEST', message, { scimType });

const MAX_SHOWN = 3;
const LONGEST_SHOWN = 40; // characters

/** @param scopes the malformed scopes. The sentence shows a few, cut and in printable ASCII. */
export function malformedScopes(scopes: readonly string[]): AppError {
  const shown = scopes.slice(0, MAX_SHOWN).map((scope) => {
    const text = scope.length > LONGEST_SHOWN ? `${scope.slice(0, LONGEST_SHOWN)}...` : scope;
    return `\`${text.replaceAll(/[^ -_a-~]/g, '?')}\``;
  });
  const others = scopes.length > MAX_SHOWN ? ` and ${scopes.length - MAX_SHOWN} more` : '';
  const form = 'A scope has the form `<resource>:<permission>`.';
  const message = `These scopes are malformed: ${shown.join(', ')}${others}. ${form}`;
  return new AppError('INVALID_SCOPE', message, { scopes: scopes.slice(0, 20) });
}

/** The refusal when a store of the service does not answer. @param dependency as in `/health` */
export const unavailable = (dependency: 'db' | 'redis') =>
  new AppError('SERVICE_UNAVAILABLE', `The ${DEPENDENCIES[dependency]} is not reachable; try again.`, {
    dependency,
  });

const DEPENDENCIES = { db: 'database', redis: 'store of requests under way' } as const;

/** The errors of RFC 6749 §5.2 and §4.1.2.1, and of the specifications that add to them. */
export type OAuthErrorName =
  | 'access_denied'
  | 'authorization_pending'
  | 'expired_token'
  | 'interaction_required'
  | 'invalid_authorization_details'
  | 'invalid_binding_message'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_dpop_proof'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'request_not_supported'
  | 'server_error'
  | 'slow_down'
  | 'temporarily_unavailable'
  | 'unauthorized_client'
  | 'unmet_authentication_requirements'
  | 'unsupported_grant_type'
  | 'unknown_user_id'
  | 'unsupported_response_type'
  | 'use_dpop_nonce';

/** A refusal of a request of the OAuth profile. @param message the client's `error_description` */
export const oauthRefusal = (oauth: OAuthErrorName, message: string): AppError =>
  new AppError(oauth === 'invalid_client' ? 'UNAUTHORIZED' : 'BAD_REQUEST', message, { oauth });
