import type { Result } from '@behest/protocol/enforcement/result';
import type { Behest } from './behest.ts';
import {
  type Guard,
  type GuardedRequest,
  type GuardOptions,
  guardOf,
  insufficientScope,
  noGrant,
  oneHeader,
  type Refusal,
} from './http/guard.ts';
import { decideCall, type ToolRoute } from './http/tool-calls.ts';
import { missingScopes } from './verify/scopes.ts';
import type { VerifiedGrant } from './verify/verified-grant.ts';

export type { GuardOptions, ProofRules } from './http/guard.ts';
export type { ToolRoute } from './http/tool-calls.ts';

/** The parts of a request that the middleware reads and adds. Requests of Express 4 and 5 have them. */
export interface ExpressRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** These two are what a proof of possession names. */
  readonly method?: string;
  readonly originalUrl?: string;
  grant?: VerifiedGrant;
  grantToken?: string;
  /** The parsed body, where a parser stands before. */
  body?: unknown;
  /** The answer about the call, behind `enforceTool`. */
  enforcement?: Result;
  /** The arguments that were checked, for the tool to use. */
  toolArguments?: unknown;
}

/** The parts of a response that the middleware writes. */
export interface ExpressResponse {
  status(code: number): this;
  set(headers: Record<string, string>): this;
  json(body: unknown): unknown;
}

export type ExpressMiddleware<Request extends ExpressRequest = ExpressRequest> = (
  request: Request,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Lets requests with a good grant token through, and gives them `req.grant`.
 *
 * @throws BehestError without `developerId`
 *
 * @example
 * ```ts
 * app.use('/api', requireGrantToken({ jwksUri, audience, developerId }));
 * app.get('/api/calendar', requireScopes('calendar:read'), (req, res) => res.json(eventsOf(req.grant)));
 * ```
 */
export function requireGrantToken(options: GuardOptions): ExpressMiddleware {
  return guardedBy(guardOf(options));
}

function guardedBy(guard: Guard): ExpressMiddleware {
  return (request, response, next) => {
    guard(authorizationOf(request), provedBy(request)).then((guarded) => {
      if (!guarded.ok) return refuse(response, guarded.refusal);
      request.grant = guarded.grant;
      request.grantToken = guarded.token;
      next();
    }, next);
  };
}

/** Lets requests through whose token covers every one of the scopes. It comes after `requireGrantToken`. */
export function requireScopes(...scopes: string[]): ExpressMiddleware {
  return (request, response, next) => {
    if (!request.grant) return next(noGrant());
    if (missingScopes(request.grant, scopes).length > 0) return refuse(response, insufficientScope(scopes));
    next();
  };
}

/**
 * Lets a request through when its tool call is allowed. The tool uses `req.toolArguments`, which were checked.
 *
 * @example
 * ```ts
 * const tool = { connector: 'salesforce', tool: (req) => String(req.params.tool) };
 * app.post('/tools/:tool', express.json(), enforceTool(behest, tool), (req, res) => res.json(run(req.toolArguments)));
 * ```
 */
export function enforceTool<Request extends ExpressRequest>(
  behest: Behest,
  route: ToolRoute<Request>,
): ExpressMiddleware<Request> {
  return (request, response, next) => {
    const { grant, grantToken, body } = request;
    const arrived = { ...provedBy(request), authorization: authorizationOf(request), grant, grantToken };
    decideCall(behest, route, { request, body, ...arrived }).then((decided) => {
      if (!decided.ok) return refuse(response, decided.refusal);
      request.enforcement = decided.result;
      request.toolArguments = decided.arguments;
      next();
    }, next);
  };
}

/** Both, with shared settings. */
export function createBehest(options: GuardOptions) {
  return {
    requireToken: (over: Partial<GuardOptions> = {}) => requireGrantToken({ ...options, ...over }),
    requireScopes,
  };
}

/** The parts of a request that a proof names. A router may have taken a part of `url` away. */
function provedBy({ method = 'GET', originalUrl = '/', headers }: ExpressRequest): GuardedRequest {
  return { method, path: originalUrl, proof: oneHeader(headers.dpop) };
}

/** The header is one text in Node; a list, which no server makes of it, is no token. */
function authorizationOf({ headers }: ExpressRequest): string | undefined {
  const { authorization } = headers;
  return typeof authorization === 'string' ? authorization : undefined;
}

function refuse(response: ExpressResponse, { status, headers, body }: Refusal): void {
  response.status(status).set(headers).json(body);
}
