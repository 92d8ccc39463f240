const always = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'cache-control': 'no-store',
} as const;

/** A browser that came by TLS once always comes by TLS (RFC 6797). For production, where there is TLS. */
const strictTransport = {
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
} as const;

/** The headers of every answer. A page or a public document overrides some of them. */
export const standardHeaders = (isProduction: boolean): Readonly<Record<string, string>> => ({
  ...always,
  ...(isProduction && strictTransport),
});
