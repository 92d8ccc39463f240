/** What a page of another origin may see of an answer, beyond what every page may. */
const EXPOSED =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, Idempotency-Replayed';

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
  'access-control-max-age': '600', // seconds
} as const;

/**
 * Says to browsers which pages of other origins may call. Credentials that a browser would send by itself are
 * never among what is allowed: the API takes a bearer, which a page has to hold. A page that is not allowed gets
 * the same answer without these headers, and its browser keeps the answer from it.
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function crossOrigin(allowed: readonly string[]) {
  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && allowed.includes(origin);

  return {
    isAllowed,
    headersFor: (origin: string | undefined): Record<string, string> =>
      isAllowed(origin)
        ? { 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED, vary: 'Origin' }
        : {},
    preflightFor: (origin: string | undefined): Record<string, string> =>
      isAllowed(origin) ? PREFLIGHT : {},
  };
}
