import createClient from 'openapi-fetch';
import createQueryHooks from 'openapi-react-query';
import { errorOf, unreachable } from './errors.ts';
import type { components, paths } from './types.gen.ts';

export type Schemas = components['schemas'];

const SAFE = new Set(['GET', 'HEAD']);

/** What the session gives the client. The token stands in memory only. */
const session: { csrfToken?: string; stepUp?: () => Promise<boolean> } = {};

export function keepCsrfToken(token: string | undefined): void {
  if (token === undefined) delete session.csrfToken;
  else session.csrfToken = token;
}

/** @param stepUp asks the member for their passkey, and says whether they gave it */
export function onStepUp(stepUp: () => Promise<boolean>): void {
  session.stepUp = stepUp;
}

/**
 * Sends a request with what the session asks of it. Each change is named, so that one that is sent twice happens once.
 * @throws ApiError for every answer that is not good
 */
async function send(request: Request): Promise<Response> {
  if (request.method === 'POST' && session.csrfToken !== undefined)
    request.headers.set('idempotency-key', crypto.randomUUID());
  const repeat = request.clone();
  const answer = await attempt(request);
  if (answer.ok) return answer;
  const refusal = await errorOf(answer);
  if (refusal.code !== 'STEP_UP_REQUIRED' || !(await session.stepUp?.())) throw refusal;
  const second = await attempt(repeat);
  if (second.ok) return second;
  throw await errorOf(second);
}

/** The session has another token after a step-up, so each attempt reads it. */
async function attempt(request: Request): Promise<Response> {
  if (!SAFE.has(request.method) && session.csrfToken !== undefined)
    request.headers.set('x-csrf-token', session.csrfToken);
  return fetch(request).catch((cause: unknown) => {
    if (request.signal.aborted) throw cause;
    throw unreachable(cause);
  });
}

/** Calls operations of `openapi.json`, and no others: the types come from there. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: send });

/** The same as hooks of TanStack Query. The key of a query is its method, path and parameters. */
export const query = createQueryHooks(api);
