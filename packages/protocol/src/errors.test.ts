import { expect, test } from 'vitest';
import { errorCodes } from './errors.ts';

test('a code never loses its name or its status', () => {
  const byStatus = Object.groupBy(Object.entries(errorCodes), ([, { status }]) => status);
  const names = Object.entries(byStatus).map(([status, codes]) => [
    Number(status),
    codes.map(([code]) => code).join(' '),
  ]);

  expect(Object.fromEntries(names)).toEqual({
    400:
      'BAD_REQUEST INVALID_SCOPE INVALID_PURPOSE INVALID_GRANT DISCOVERY_FAILED INVALID_REDIRECT_URI ' +
      'DELEGATION_DEPTH_EXCEEDED RESERVED_ACTION TOKEN_EXPIRED VERIFICATION_FAILED SSO_DOMAIN_REQUIRED ' +
      'CHALLENGE_INVALID WEBAUTHN_VERIFICATION_FAILED WEBAUTHN_CLONE_SUSPECTED FIDO_NOT_ENROLLED ' +
      'UNSUPPORTED_DID INVALID_AGENT SCOPE_INSUFFICIENT AMOUNT_EXCEEDS_BUDGET PARENT_EXCEEDED INVALID_MANIFEST',
    401: 'UNAUTHORIZED SSO_AUTH_FAILED',
    402: 'PLAN_LIMIT_EXCEEDED INSUFFICIENT_BUDGET',
    403:
      'FORBIDDEN POLICY_DENIED CONSENT_REQUIRED PRINCIPAL_VERIFICATION_REQUIRED FIDO_REQUIRED SSO_REQUIRED STEP_UP_REQUIRED ' +
      'SIGNUP_DISABLED SSO_DOMAIN_NOT_ALLOWED SSO_USER_INACTIVE SSO_NOT_PROVISIONED SSO_SCOPE_DENIED PROXY_DENIED',
    404: 'NOT_FOUND',
    405: 'METHOD_NOT_ALLOWED',
    409:
      'CONFLICT EMAIL_TAKEN GRANT_INACTIVE AGENT_INACTIVE PRINCIPAL_INACTIVE REAUTHORIZATION_REQUIRED IDEMPOTENCY_CONFLICT ' +
      'IDEMPOTENCY_IN_PROGRESS CURRENCY_MISMATCH DOMAIN_CLAIMED SSO_ACCOUNT_CONFLICT ALREADY_CONSUMED ' +
      'KEY_STORE_READ_ONLY',
    410: 'GONE',
    412: 'PRECONDITION_FAILED',
    413: 'PAYLOAD_TOO_LARGE EXPORT_TOO_LARGE',
    415: 'UNSUPPORTED_MEDIA_TYPE',
    422: 'INVALID_EXPIRY',
    429: 'RATE_LIMITED TOO_MANY_CONNECTIONS',
    500: 'INTERNAL_ERROR',
    501: 'NOT_SUPPORTED',
    502: 'UPSTREAM_ERROR SSO_ERROR',
    503: 'SERVICE_UNAVAILABLE NOT_CONFIGURED',
  });
});

test('every code tells its reader what happened, in a sentence of its own', () => {
  const meanings = Object.values(errorCodes).map(({ meaning }) => meaning);

  for (const meaning of meanings) expect(meaning).toMatch(/^[A-Z].{20,}[.]$/);
  expect(new Set(meanings).size).toBe(meanings.length);
});
