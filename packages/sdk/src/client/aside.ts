import type { Fetch } from '../verify/fetch-keys.ts';
import type { TransportOptions } from './transport.ts';

/** Records, wherever the service names them: `dec_01K9Z3QW5M8T2V4X6Y7Z8A9B0C`. */
const ID = /\/[a-z]+_[0-9A-Z]{26}(?=\/|$)/g;
const PROXY = /\/v1\/vault\/proxy\/.*$/;

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
    try {
      const answer = await fetch(url, { ...init, headers: sent });
      const requestId = answer.headers.get('x-request-id');
      told({ status: answer.status, ...(requestId !== null && { requestId }) });
      return answer;
    } catch (error) {
      told({});
      throw error;
    }
  };
}

/** The path without its ids, and without what an upstream is asked. */
function templateOf(path: string): string {
  return path.replace(/\?.*$/, '').replace(PROXY, '/v1/vault/proxy/{service}/{path}').replaceAll(ID, '/{id}');
}
