import type { Fetch } from '../verify/fetch-keys.ts';
import type { TransportOptions } from './transport.ts';

const PROXY = /^\/v1\/vault\/proxy\/.*$/;
const DECISION = /^\/v1\/decisions\/[^/]+/;

/**
 * Makes a `fetch` for the requests that the transport does not send, since they have a body of their own kind or an end of
 * their own: streams, calls through the vault, questions about tokens and decisions. It adds the client's headers where a
 * request has none of that name, and tells the logger.
 */
export function fetchAside({
  baseUrl,
  fetch,
  headers,
  logger,
}: Pick<TransportOptions, 'baseUrl' | 'fetch' | 'headers' | 'logger'>): Fetch {
  return async (url, init) => {
    const sent = new Headers(headers);
    for (const [name, value] of new Headers(init.headers)) sent.set(name, value);
    const began = performance.now();
    const line = { method: init.method ?? 'GET', path: templateOf(url.slice(baseUrl.length)) };
    const told = (more: object) => logger?.({ ...line, ...more, durationMs: performance.now() - began });
    const answer = await fetch(url, { ...init, headers: sent }).catch((error: unknown) => {
      told({});
      throw error;
    });
    const requestId = answer.headers.get('x-request-id');
    told({ status: answer.status, ...(requestId !== null && { requestId }) });
    return answer;
  };
}

/** The path without its ids, and without what an upstream is asked. */
function templateOf(path: string): string {
  return path
    .replace(/\?[\s\S]*$/, '')
    .replace(PROXY, '/v1/vault/proxy/{service}/{path}')
    .replace(DECISION, '/v1/decisions/{id}');
}
