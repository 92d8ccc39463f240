import createClient from 'openapi-fetch';
import createQueryHooks from 'openapi-react-query';
import { errorOf, unreachable } from './errors.ts';
import type { components, paths } from './types.gen.ts';

export type Schemas = components['schemas'];

const SAFE = new Set(['GET', 'HEAD']);

/** What the session gives the client. The token stands in memory only. */
const session: { csrfToken?: string } = {};

export function keepCsrfToken(token: string | undefined): void {
  if (token === undefined) delete session.csrfToken;
  else session.csrfToken = token;
}

/**
 * Sends a request with what the session asks of it. Each change is named, so that one that is sent twice happens once.
 * @throws ApiError for every answer that is not good
 */
async function send(request: Request): Promise<Response> {
  if (!SAFE.has(request.method) && session.csrfToken !== undefined) {
    request.headers.set('x-csrf-token', session.csrfToken);
    if (request.method === 'POST') request.headers.set('idempotency-key', crypto.randomUUID());
  }
  const answer = await fetch(request).catch((cause: unknown) => {
    if (request.signal.aborted) throw cause;
    throw unreachable(cause);
  });
  if (!answer.ok) throw await errorOf(answer);
  return answer;
}

/** Calls operations of `openapi.json`, and no others: the types come from there. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: send });

/** The same as hooks of TanStack Query. The key of a query is its method, path and parameters. */
export const query = createQueryHooks(api);
