const always = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'cache-control': 'no-store',
} as const;

/** Browsers that came by TLS once come by TLS always (RFC 6797); for production, where there is TLS. */
const strictTransport = {
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
} as const;

/** What every answer carries; a page or a public document overrides what it must. */
export const standardHeaders = (isProduction: boolean): Readonly<Record<string, string>> => ({
  ...always,
  ...(isProduction && strictTransport),
});
