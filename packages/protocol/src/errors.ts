/**
 * Every code a client of the API can see, with its HTTP status and what its reader should know and do. The
 * error page of the manual is printed from it. A code is never renamed, given a second status or used again.
 *
 * Not here: the error names of OAuth and SCIM, which their own standards define.
 */
export const errorCodes = {
  BAD_REQUEST: {
    status: 400,
    meaning: 'The request is malformed or incomplete; correct what `details.fields` names.',
  },
  INVALID_SCOPE: {
    status: 400,
    meaning: 'A scope is not one, or reaches further than it may; `details.scopes` lists those to change.',
  },
  INVALID_PURPOSE: {
    status: 400,
    meaning:
      'The purpose is unknown, or no scope names a tool connector; send one of the documented purposes.',
  },
  INVALID_GRANT: {
    status: 400,
    meaning:
      'The code, refresh token or parent token cannot be used; `details.reason` says why. Ask for consent anew.',
  },
  INVALID_REDIRECT_URI: {
    status: 400,
    meaning: 'The redirect URI is not registered or not allowed; register exactly the one that is sent.',
  },
  DELEGATION_DEPTH_EXCEEDED: {
    status: 400,
    meaning: 'One more delegation would pass `details.maxDepth`; delegate from a grant nearer to the root.',
  },
  RESERVED_ACTION: {
    status: 400,
    meaning: 'The service writes audit entries of this name itself; choose another name for the action.',
  },
  TOKEN_EXPIRED: {
    status: 400,
    meaning: 'The emailed link or code is past its time; ask for a new one.',
  },
  VERIFICATION_FAILED: {
    status: 400,
    meaning: 'The DNS record was not found or has another value; check `details.name` and try again later.',
  },
  SSO_DOMAIN_REQUIRED: {
    status: 400,
    meaning: 'More than one connection could be meant; send the domain of the person who signs in.',
  },
  CHALLENGE_INVALID: {
    status: 400,
    meaning: 'The passkey challenge is unknown, used or expired; start again with a new one.',
  },
  WEBAUTHN_VERIFICATION_FAILED: {
    status: 400,
    meaning: 'The passkey response did not verify; `details.check` names the check that failed.',
  },
  WEBAUTHN_CLONE_SUSPECTED: {
    status: 400,
    meaning:
      'The passkey’s counter went backwards, as a copy’s would; use another passkey and remove this one.',
  },
  FIDO_NOT_ENROLLED: {
    status: 400,
    meaning: 'The principal has no passkey; enrol one first.',
  },
  UNSUPPORTED_DID: {
    status: 400,
    meaning: 'Only DIDs of this service are resolved here; resolve others where they live.',
  },
  INVALID_AGENT: {
    status: 400,
    meaning: 'The agent is unknown or not active; name an active agent of your own.',
  },
  SCOPE_INSUFFICIENT: {
    status: 400,
    meaning: 'The grant does not have the scope this needs; ask the principal for it.',
  },
  AMOUNT_EXCEEDS_BUDGET: {
    status: 400,
    meaning: 'The amount is larger than what is left of the grant’s budget; ask for less.',
  },
  PARENT_EXCEEDED: {
    status: 400,
    meaning: 'A child may not reach further than its parent; lower its categories, amount or lifetime.',
  },
  INVALID_MANIFEST: {
    status: 400,
    meaning: 'The tool manifest is not valid; `details.code` and `details.path` say what is wrong and where.',
  },
  UNAUTHORIZED: {
    status: 401,
    meaning: 'The credential is missing, unknown, expired, revoked or of another kind; send a valid one.',
  },
  SSO_AUTH_FAILED: {
    status: 401,
    meaning: 'The identity provider’s answer or the password was refused; sign in again.',
  },
  PLAN_LIMIT_EXCEEDED: {
    status: 402,
    meaning: 'A quota of the plan is used up; `details.resource` names it. Free some, or change the plan.',
  },
  INSUFFICIENT_BUDGET: {
    status: 402,
    meaning: 'The debit is larger than `details.remaining`; spend less, or ask for a new budget.',
  },
  FORBIDDEN: {
    status: 403,
    meaning: 'The credential is valid, but not for this; use one that has the role or the scope.',
  },
  POLICY_DENIED: {
    status: 403,
    meaning: 'A policy refused the request; `details.policyId` names it where it may be known.',
  },
  CONSENT_REQUIRED: {
    status: 403,
    meaning: 'Only the principal may decide this request; send them to its consent page.',
  },
  PRINCIPAL_VERIFICATION_REQUIRED: {
    status: 403,
    meaning: 'The principal has not yet proved who they are; `details.methods` lists the ways to do so.',
  },
  FIDO_REQUIRED: {
    status: 403,
    meaning: 'The principal has to prove who they are with a passkey; ask for one and try again.',
  },
  SSO_REQUIRED: {
    status: 403,
    meaning: 'Single sign-on is required for this; begin it at `details.loginUrl`.',
  },
  SIGNUP_DISABLED: {
    status: 403,
    meaning: 'The operator has closed sign-up; ask them for an account.',
  },
  SSO_DOMAIN_NOT_ALLOWED: {
    status: 403,
    meaning: 'The address is not of a domain of this connection; sign in with one that is.',
  },
  SSO_USER_INACTIVE: {
    status: 403,
    meaning: 'The person has been deactivated; their administrator can reactivate them.',
  },
  SSO_NOT_PROVISIONED: {
    status: 403,
    meaning: 'The person is not known here yet; their administrator has to provision them first.',
  },
  SSO_SCOPE_DENIED: {
    status: 403,
    meaning: 'The person’s groups do not allow every scope that was to be approved; approve fewer.',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'There is no such record or path for this caller; check the id and whose key was used.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path exists, the method does not; use one of `details.allow`.',
  },
  CONFLICT: {
    status: 409,
    meaning:
      'A value is taken, another change came first, or a setting is missing; `details.field` names it if one is meant.',
  },
  EMAIL_TAKEN: {
    status: 409,
    meaning: 'Another account has verified this address; use that account or another address.',
  },
  GRANT_INACTIVE: {
    status: 409,
    meaning: 'The grant is revoked or expired; ask for consent anew.',
  },
  AGENT_INACTIVE: {
    status: 409,
    meaning: 'The agent is suspended or revoked; resume it, or use another.',
  },
  PRINCIPAL_INACTIVE: {
    status: 409,
    meaning: 'The principal has been deprovisioned; nothing can be granted in their name.',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    meaning: 'This `Idempotency-Key` was used for another request; send a new key.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    meaning: 'The first request with this `Idempotency-Key` still runs; ask again after a second.',
  },
  CURRENCY_MISMATCH: {
    status: 409,
    meaning: 'A budget above this one is in another currency; use the same.',
  },
  DOMAIN_CLAIMED: {
    status: 409,
    meaning: 'Another developer has verified this domain; its record has to be removed there first.',
  },
  SSO_ACCOUNT_CONFLICT: {
    status: 409,
    meaning: 'The name is linked to another identity; an administrator has to unlink that one.',
  },
  ALREADY_CONSUMED: {
    status: 409,
    meaning: 'This may be used once, and was; ask for a new one.',
  },
  KEY_STORE_READ_ONLY: {
    status: 409,
    meaning: 'Signing keys come from the environment and cannot be changed here; change the settings.',
  },
  GONE: {
    status: 410,
    meaning: 'It was decided, used, cancelled or has expired; `details.status` says which. Start anew.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning: 'The body is larger than `details.limit` bytes; send less.',
  },
  EXPORT_TOO_LARGE: {
    status: 413,
    meaning: 'The export has too many rows for one document; use a streaming form or a shorter period.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: 'The body is not JSON, or is compressed; send `Content-Type: application/json` uncompressed.',
  },
  INVALID_EXPIRY: {
    status: 422,
    meaning: 'The lifetime is longer than the operator allows; ask for a shorter one.',
  },
  RATE_LIMITED: {
    status: 429,
    meaning: 'Too many requests; wait for the seconds of `Retry-After` and try again.',
  },
  TOO_MANY_CONNECTIONS: {
    status: 429,
    meaning: 'All event streams of the account are in use; close one, or try again later.',
  },
  INTERNAL_ERROR: {
    status: 500,
    meaning: 'The service failed in a way nobody foresaw; quote `requestId` when reporting it.',
  },
  NOT_SUPPORTED: {
    status: 501,
    meaning: 'The standard allows this option, this service does not offer it; leave it out.',
  },
  UPSTREAM_ERROR: {
    status: 502,
    meaning: 'A third party the call depends on failed; `details.service` names it. Try again later.',
  },
  SSO_ERROR: {
    status: 502,
    meaning: 'The identity provider could not be reached or is broken; try again later.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'Something the service depends on is down; `details.dependency` names it. Try again later.',
  },
  NOT_CONFIGURED: {
    status: 503,
    meaning: 'The operator has not configured this; `details.setting` names what is missing.',
  },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** What is wrong with one field of a request; the whole vocabulary of `details.fields`. */
export type FieldProblem =
  | 'required'
  | 'type'
  | 'format'
  | 'too_long'
  | 'too_short'
  | 'too_large'
  | 'too_small'
  | 'unknown'
  | 'not_allowed';

/** One member of `details.fields`; `path` is dotted, as in `scopes.3`. */
export interface FieldFault {
  readonly path: string;
  readonly problem: FieldProblem;
}
