import createClient from 'openapi-fetch';
import createQueryHooks from 'openapi-react-query';
import { ApiError, errorOf, unreachable } from './errors.ts';
import type { components, paths } from './types.gen.ts';

export type Schemas = components['schemas'];

const PROPOSED = 'Nothing has changed yet: a second member has to agree.';
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
  if (answer.ok) return changed(answer);
  const refusal = await errorOf(answer);
  if (refusal.code !== 'STEP_UP_REQUIRED' || !(await session.stepUp?.())) throw refusal;
  const second = await attempt(repeat);
  if (second.ok) return changed(second);
  throw await errorOf(second);
}

/** @throws ApiError where nothing has changed, because a second member has to agree first */
async function changed(answer: Response): Promise<Response> {
  if (answer.status !== 202) return answer;
  const details = await answer.clone().json();
  if (typeof details.changeId !== 'string') return answer;
  const requestId = answer.headers.get('x-request-id') ?? undefined;
  throw new ApiError(202, {
    code: 'CHANGE_PROPOSED',
    message: PROPOSED,
    details,
    ...(requestId && { requestId }),
  });
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
