import type { FastifyReply } from 'fastify';

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

/** The headers that a page of another origin may read, beyond those that every page may read. */
const EXPOSED =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, Idempotency-Replayed';

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
  'access-control-max-age': '600', // seconds
} as const;

/** For answers that pages of every origin may read. */
export const FROM_ANY_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'DPoP-Nonce, WWW-Authenticate, X-Request-Id, Retry-After',
} as const;

/** `Vary` with one more header, beside the `Origin` that answers to pages elsewhere have. */
export const variesBy = (reply: FastifyReply, header: string): string =>
  reply.hasHeader('vary') ? `${reply.getHeader('vary')}, ${header}` : header;

/**
 * Tells browsers which pages of other origins may call. The service never allows credentials that a browser
 * would send by itself: the API takes a bearer, which a page has to hold. A page that is not allowed gets the
 * same answer without these headers, and its browser keeps the answer from it.
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function crossOrigin(allowed: readonly string[]) {
  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && allowed.includes(origin);

  return {
    isAllowed,
    /** For routes that pages of every origin may call. */
    preflightForAll: (methods: readonly string[]) => ({
      'access-control-allow-methods': [...methods, 'OPTIONS'].join(', '),
      'access-control-allow-headers':
        'Authorization, Content-Type, DPoP, Idempotency-Key, MCP-Protocol-Version',
      'access-control-max-age': '600', // seconds
    }),
    /** For public documents. Programs send headers of their own with every request; the star leaves out one of them. */
    preflightForDocument: {
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': '*, Authorization',
      'access-control-max-age': '600', // seconds
    },
    headersFor: (origin: string | undefined): Record<string, string> =>
      isAllowed(origin)
        ? { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED, vary: 'Origin' }
        : {},
    preflightFor: (origin: string | undefined): Record<string, string> =>
      isAllowed(origin) ? PREFLIGHT : {},
  };
}
