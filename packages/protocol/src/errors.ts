/**
 * Every error code of the API, with its HTTP status and a sentence that says what is wrong and what to do. The
 * page `docs/errors.md` is generated from it. A code is never renamed, given a second status or used again. The
 * error names of OAuth and SCIM are not here, because their own standards define them.
 *
 * @example
 * ```ts
 * const { code, message } = (await answer.json()).error;
 * if (code in errorCodes) console.warn(message, errorCodes[code as ErrorCode].meaning);
 * ```
 */
export const errorCodes = {
  BAD_REQUEST: {
    status: 400,
    meaning: 'The request is malformed or incomplete; correct what `details.fields` names.',
  },
  INVALID_SCOPE: {
    status: 400,
    meaning:
      'A scope is malformed or reaches further than it may; change the scopes that `details.scopes` lists.',
  },
  INVALID_PURPOSE: {
    status: 400,
    meaning:
      'The purpose is unknown, or no scope names a tool connector; send one of the documented purposes.',
  },
  INVALID_GRANT: {
    status: 400,
    meaning:
      'The code, refresh token or parent token cannot be used; `details.reason` says why and what to do.',
  },
  DISCOVERY_FAILED: {
    status: 400,
    meaning:
      'The metadata that the upstream publishes cannot be used; `details.step` and `details.reason` say why.',
  },
  INVALID_REDIRECT_URI: {
    status: 400,
    meaning:
      'The redirect URI is not registered or not allowed; register it exactly as the request sends it.',
  },
  DELEGATION_DEPTH_EXCEEDED: {
    status: 400,
    meaning: 'One more delegation would pass `details.maxDepth`; delegate from a grant nearer to the root.',
  },
  RESERVED_ACTION: {
    status: 400,
    meaning:
      'The service reserves this action for its own audit entries; choose another name for the action.',
  },
  TOKEN_EXPIRED: {
    status: 400,
    meaning: 'The emailed link or code has expired; ask for a new one.',
  },
  VERIFICATION_FAILED: {
    status: 400,
    meaning: 'The DNS record was not found or has another value; check `details.name` and try again later.',
  },
  SSO_DOMAIN_REQUIRED: {
    status: 400,
    meaning: 'More than one connection matches; send the domain of the person who signs in.',
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
    meaning: 'The service resolves its own DIDs only; resolve this DID with the method that it names.',
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
    meaning:
      'The grant’s budget has less left, or another currency (`details.reason`); ask for less, or in its currency.',
  },
  PARENT_EXCEEDED: {
    status: 400,
    meaning: 'The child reaches further than its parent; lower its categories, amount or lifetime.',
  },
  INVALID_MANIFEST: {
    status: 400,
    meaning: 'The tool manifest is not valid; correct the fault `details.code` at `details.path`.',
  },
  UNAUTHORIZED: {
    status: 401,
    meaning: 'The credential is missing, unknown, expired, revoked or of another kind; send a valid one.',
  },
  SSO_AUTH_FAILED: {
    status: 401,
    meaning: 'The service refused the identity provider’s answer or the password; sign in again.',
  },
  PLAN_LIMIT_EXCEEDED: {
    status: 402,
    meaning: 'The quota that `details.resource` names is used up; free a part of it, or change the plan.',
  },
  INSUFFICIENT_BUDGET: {
    status: 402,
    meaning: 'The debit is larger than `details.remaining`; spend less, or ask for a new budget.',
  },
  FORBIDDEN: {
    status: 403,
    meaning:
      'The credential is valid, but not for this request; use a credential with the required role or scope.',
  },
  POLICY_DENIED: {
    status: 403,
    meaning:
      'A policy refused the request; change the request, or the policy if `details.policyId` names it.',
  },
  CONSENT_REQUIRED: {
    status: 403,
    meaning: 'Only the principal may decide this request; send the principal to its consent page.',
  },
  PRINCIPAL_VERIFICATION_REQUIRED: {
    status: 403,
    meaning: 'The principal has not proved their identity; use one of the ways in `details.methods`.',
  },
  FIDO_REQUIRED: {
    status: 403,
    meaning: 'The principal has to prove their identity with a passkey; ask for one and try again.',
  },
  SSO_REQUIRED: {
    status: 403,
    meaning: 'Single sign-on is required for this; begin it at `details.loginUrl`.',
  },
  STEP_UP_REQUIRED: {
    status: 403,
    meaning:
      'The member has to use their passkey again for this, in the last `details.maxAgeSeconds`; do so and repeat the request.',
  },
  SIGNUP_DISABLED: {
    status: 403,
    meaning: 'The operator has closed sign-up; ask the operator for an account.',
  },
  SSO_DOMAIN_NOT_ALLOWED: {
    status: 403,
    meaning: 'The address is in no domain of this connection; sign in with an address of its domains.',
  },
  SSO_USER_INACTIVE: {
    status: 403,
    meaning: 'The person has been deactivated; ask their administrator to reactivate them.',
  },
  SSO_NOT_PROVISIONED: {
    status: 403,
    meaning: 'The service does not know the person yet; ask their administrator to provision them.',
  },
  SSO_SCOPE_DENIED: {
    status: 403,
    meaning: 'The person’s groups do not allow all of the scopes; approve fewer scopes.',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'The caller has no such record or path; check the path, the id and the owner of the credential.',
  },
  PROXY_DENIED: {
    status: 403,
    meaning:
      'The vault proxy does not pass this request on; see `details.reason`, and the rules of the service or the grant.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path does not accept this method; use one of `details.allow`.',
  },
  CONFLICT: {
    status: 409,
    meaning:
      'A value is taken, another change came first, or a setting is missing; check `details.field`, or read again and retry.',
  },
  EMAIL_TAKEN: {
    status: 409,
    meaning: 'Another account has verified this address; use that account or another address.',
  },
  GRANT_INACTIVE: {
    status: 409,
    meaning: 'The grant is revoked or expired; ask for consent again.',
  },
  AGENT_INACTIVE: {
    status: 409,
    meaning: 'The agent is suspended or revoked; resume it, or use another agent.',
  },
  PRINCIPAL_INACTIVE: {
    status: 409,
    meaning: 'The principal has been deprovisioned; ask their administrator to provision them again.',
  },
  REAUTHORIZATION_REQUIRED: {
    status: 409,
    meaning: 'The person has to connect the account again; make a connect session and send them its link.',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    meaning: 'Another request used this `Idempotency-Key`; send a new key.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    meaning: 'The first request with this `Idempotency-Key` still runs; send it again after a second.',
  },
  CURRENCY_MISMATCH: {
    status: 409,
    meaning: 'A budget above this one has another currency; use the same currency.',
  },
  DOMAIN_CLAIMED: {
    status: 409,
    meaning:
      'Another developer has verified this domain; have the DNS record of that developer removed first.',
  },
  SSO_ACCOUNT_CONFLICT: {
    status: 409,
    meaning:
      'The person is linked to another identity, or the name is taken; ask an administrator to move the link.',
  },
  ALREADY_CONSUMED: {
    status: 409,
    meaning: 'The link, code or challenge was used before; ask for a new one.',
  },
  KEY_STORE_READ_ONLY: {
    status: 409,
    meaning: 'The signing keys come from the environment; change them in the settings.',
  },
  GONE: {
    status: 410,
    meaning:
      'The request was decided, used or cancelled, or has expired; see `details.status`, and make a new request.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    meaning: 'The resource is no longer the version of `If-Match`; read it again.',
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
    meaning: 'The lifetime is longer than the operator allows; ask for a shorter lifetime.',
  },
  RATE_LIMITED: {
    status: 429,
    meaning: 'The caller sent too many requests; wait for the seconds of `Retry-After` and try again.',
  },
  TOO_MANY_CONNECTIONS: {
    status: 429,
    meaning: 'The account uses all of its event streams; close a stream, or try again later.',
  },
  INTERNAL_ERROR: {
    status: 500,
    meaning: 'The service failed unexpectedly; report the failure with its `requestId`.',
  },
  NOT_SUPPORTED: {
    status: 501,
    meaning: 'The service does not offer this option of the standard; leave it out.',
  },
  UPSTREAM_ERROR: {
    status: 502,
    meaning: 'The third party that `details.service` names failed; try again later.',
  },
  SSO_ERROR: {
    status: 502,
    meaning: 'The identity provider is unreachable or failed; try again later.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'The dependency that `details.dependency` names is down; try again later.',
  },
  NOT_CONFIGURED: {
    status: 503,
    meaning: 'The operator has not configured `details.setting`; ask the operator to set it.',
  },
} as const;

/** The name of an error code. A `switch` over it is checked by the compiler. */
export type ErrorCode = keyof typeof errorCodes;

/**
 * Every `details.reason` of `INVALID_GRANT`, with the sentence of its answer. One reason covers all that a caller who
 * does not hold the code or token must not tell apart.
 */
export const invalidGrantReasons = {
  code_unknown:
    'No such code exists for this agent, redirect URI and key; send the values of its authorization request.',
  code_used: 'The code was used before; ask for consent again.',
  code_expired: 'The code has expired; ask for consent again.',
  not_approved: 'The request has no approved code; wait for the decision of its person.',
  pkce_required: 'The request has a `codeChallenge`; send its `codeVerifier` with the code.',
  pkce_unexpected: 'The request had no `codeChallenge`; leave `codeVerifier` out.',
  pkce_mismatch: 'The `codeVerifier` is not the one of the `codeChallenge`; send the one that made it.',
  refresh_unknown: 'No such refresh token exists for this agent and key; send the newest one of its grant.',
  refresh_reused: 'The refresh token was used before, so its grant has ended; ask for consent again.',
  refresh_expired: 'The refresh token has expired; ask for consent again.',
  grant_unknown: 'No such grant exists here; send the id of a grant of this account.',
  grant_revoked: 'The grant was revoked; ask for consent again.',
  grant_expired: 'The grant has expired; ask for consent again.',
  agent_inactive: 'The agent is suspended or revoked, or its account is stopped; resume it first.',
  reconsent_required: 'A manifest now allows more than the person agreed to; ask for consent again.',
  parent_invalid: 'The parent token does not verify here, or its proof is missing; send a live grant token.',
  parent_revoked: 'The parent grant was revoked; ask for consent again.',
  parent_expired: 'The parent grant has expired; ask for consent again.',
} as const;

export type InvalidGrantReason = keyof typeof invalidGrantReasons;
