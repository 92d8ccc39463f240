import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../caller.ts';
import { AppError } from '../errors.ts';
import { crossOrigin } from './cors.ts';
import {
  type AuthenticateBrowser,
  type AuthenticateKey,
  bearerOf,
  timesSent,
  unauthorized,
} from './credentials.ts';
import type { Paths } from './declarations.ts';
import {
  type Budget,
  budgetsOf,
  isKeyedByDeveloper,
  planLimit,
  type Rate,
  type RateLimits,
} from './rate-rules.ts';
import { type Spend, subjectOf } from './rates.ts';
import { standardHeaders } from './standard-headers.ts';
import { type KnownPath, pathFinder, unknownRoute } from './unknown-route.ts';

const MOST_HEADERS = 100; // lines; browsers and proxies together send some thirty

export interface RequestPath {
  readonly spend: Spend;
  readonly limits: RateLimits;
  readonly developer: AuthenticateKey;
  readonly consent: AuthenticateBrowser;
  readonly paths: Paths;
  readonly isProduction: boolean;
  /** Origins whose pages may call the API. */
  readonly corsAllowedOrigins: readonly string[];
  /** Of the service's own pages, as browsers name it: `https://auth.example`. */
  readonly ownOrigin: string;
}

/** What happens to every request before its body is read, in this order. */
export function addRequestPath(app: FastifyInstance, path: RequestPath): void {
  const { limits } = path;
  const charge = chargeWith(path.spend);
  const findPath = pathFinder(path.paths);
  const cors = crossOrigin(path.corsAllowedOrigins);
  const headers = standardHeaders(path.isProduction);

  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers).header('x-request-id', request.id);
    const { origin } = request.headers;
    const { access, role, rate = 'default', fromOwnPages } = request.routeOptions.config;
    const unknown = isUnknown(request) ? findPath(request.url) : undefined;
    if (!(unknown?.isForOwnPages ?? fromOwnPages)) reply.headers(cors.headersFor(origin));
    // The limit that needs no identity comes first, so that guessing credentials is bounded too.
    await charge(reply, anonymousBudgets(request, rate, limits));
    refuseOddHeaders(request);
    if (unknown) {
      if (!isPreflight(request, unknown)) throw unknownRoute(unknown, request, reply);
      return reply.headers(cors.preflightFor(origin)).code(204).send();
    }
    if (fromOwnPages) refuseOtherPages(request, path.ownOrigin);
    if (access === 'none') return;
    if (access === 'consent') {
      request.caller = await path.consent(browserRequestOf(request));
      return;
    }

    const apiKey = bearerOf(request);
    request.caller = (apiKey && (await path.developer(apiKey, request.id))) || null;
    if (!request.caller) {
      // Whoever proves nothing on a route that counts by developer is counted by address instead.
      if (isKeyedByDeveloper(rate)) {
        await charge(reply, budgetsOf('default', { address: subjectOf(request.ip) }, limits));
      }
      throw unauthorized(reply, apiKey);
    }
    if (role === 'full' && request.caller.role !== 'full') {
      throw new AppError('FORBIDDEN', 'This needs an API key whose role is `full`.');
    }
    await charge(reply, identityBudgets(request.caller, rate, limits));
  });
  // Never reached, since the hook above has thrown; without it Fastify would skip that hook.
  app.setNotFoundHandler(() => {});
}

/** To the router, a path with a slash at its end has an empty id. */
const isUnknown = ({ is404, url }: FastifyRequest) => is404 || /^[^?#]*\/([?#]|$)/.test(url);

/** A browser asks before it sends what a form could not (Fetch, section 3.3.2). */
const isPreflight = ({ method, headers }: FastifyRequest, { methods, isForOwnPages }: KnownPath) =>
  method === 'OPTIONS' &&
  methods.length > 0 &&
  !isForOwnPages &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;

/** @throws BAD_REQUEST for what a proxy before us may read otherwise (RFC 9112, section 3.2), or no client sends. */
function refuseOddHeaders({ raw }: FastifyRequest): void {
  const hosts = timesSent(raw, 'host');
  const hasHost = hosts === 1 || (hosts === 0 && raw.httpVersion === '1.0');
  if (hasHost && raw.rawHeaders.length <= 2 * MOST_HEADERS) return;
  throw new AppError('BAD_REQUEST', 'This is not an acceptable HTTP request.');
}

function chargeWith(spend: Spend) {
  return async (reply: FastifyReply, budgets: readonly Budget[]) => {
    const standing = await spend(budgets);
    if (!standing) return;
    // Of several budgets, the headers show the one that will run out first.
    const shown = Number(reply.getHeader('x-ratelimit-remaining') ?? Number.POSITIVE_INFINITY);
    if (standing.remaining <= shown) reply.headers(standing.headers);
    if (standing.refusal) throw standing.refusal;
  };
}

/** On a route that counts by developer the address is only looked at: has it failed too often? */
function anonymousBudgets(request: FastifyRequest, rate: Rate, limits: RateLimits): Budget[] {
  const address = subjectOf(request.ip);
  if (isKeyedByDeveloper(rate)) {
    return budgetsOf('default', { address }, limits).map((budget) => ({ ...budget, cost: 0 }));
  }
  const record = recordIdOf(request);
  return budgetsOf(rate, { address, ...(record && { record }) }, limits);
}

function identityBudgets({ tenant, plan }: Caller, rate: Rate, limits: RateLimits): Budget[] {
  const subject = `developer:${tenant.developerId}`;
  const ofPlan: Budget = { rule: 'plan', subject, limit: planLimit(plan, limits), cost: 1 };
  return [...budgetsOf(rate, { developer: tenant.developerId }, limits), ofPlan];
}

function recordIdOf({ params }: FastifyRequest): string | undefined {
  return typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : undefined;
}

function browserRequestOf(request: FastifyRequest) {
  const { cookies, headers, method, ip, id: requestId } = request;
  return {
    recordId: recordIdOf(request) ?? '',
    cookies,
    csrfToken: headers['x-csrf-token']?.toString(),
    isWrite: method !== 'GET' && method !== 'HEAD',
    hasAuthorization: headers.authorization !== undefined,
    requestId,
    ip,
    userAgent: headers['user-agent'],
  };
}

/** A browser says where a request comes from, and a page cannot make it say otherwise (Fetch, section 3.2). */
function refuseOtherPages({ headers }: FastifyRequest, ownOrigin: string): void {
  const { origin = ownOrigin, 'sec-fetch-site': site = 'same-origin' } = headers;
  if (origin === ownOrigin && site === 'same-origin') return;
  throw new AppError('FORBIDDEN', 'Only the pages of this service may ask for this.');
}

/** Keeps the client's own id for a request when it cannot hurt a log. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = String(headers['x-request-id'] ?? '');
  return /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
}
