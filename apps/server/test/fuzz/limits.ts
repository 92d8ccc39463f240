/** High enough for most requests. Some are low, so the fuzzer sees their refusals too. */
export const limits: Readonly<Record<string, string>> = {
  RATE_LIMIT_DEFAULT: '1000000',
  RATE_LIMIT_PLAN_FREE: '1000000',
  RATE_LIMIT_AUTHORIZE: '1000000',
  RATE_LIMIT_TOKEN: '1000000',
  RATE_LIMIT_REFRESH: '1000000',
  RATE_LIMIT_SIGNUP: '1000000',
  RATE_LIMIT_SIGNUP_HOURLY: '1000000',
  RATE_LIMIT_AUDIT_LOG: '1000000',
  RATE_LIMIT_EMAIL_CODE: '100000',
  RATE_LIMIT_KEYS: '40',
  RATE_LIMIT_AUDIT_VERIFY: '10',
  RATE_LIMIT_CONSENT: '20',
};
