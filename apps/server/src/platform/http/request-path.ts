import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Role } from '../caller.ts';
import { AppError } from '../errors.ts';
import { crossOrigin } from './answers/cors.ts';
import { standardHeaders } from './answers/standard-headers.ts';
import {
  type AuthenticateBrowser,
  bearerOf,
  type Holder,
  type ReadSession,
  timesSent,
  unauthorized,
} from './callers/credentials.ts';
import type { KnownCallers, PresentedKey } from './callers/known-callers.ts';
import { budgetsOf, needsIdentity, planLimit, type Rate, type RateLimits } from './limits/rate-rules.ts';
import { type Groups, type Settled, type Spend, type Standing, subjectOf, tighter } from './limits/rates.ts';
import type { Paths } from './routes/declarations.ts';
import { type KnownPath, pathFinder, unknownRoute } from './routes/unknown-route.ts';

const MOST_HEADERS = 100; // lines; browsers and proxies together send some thirty

export interface RequestPath {
  readonly spend: Spend;
  readonly limits: RateLimits;
  readonly callers: KnownCallers;
  readonly consent: AuthenticateBrowser;
  readonly session: ReadSession;
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
  const findPath = pathFinder(path.paths);
  const cors = crossOrigin(path.corsAllowedOrigins);
  const headers = standardHeaders(path.isProduction);

  app.decorateRequest('caller', null);
  app.decorateRequest('session', null);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers).header('x-request-id', request.id);
    const { origin } = request.headers;
    const { access, rate = 'default', fromOwnPages, fromAllowedOrigins } = request.routeOptions.config;
    const unknown = isUnknown(request) ? findPath(request.url) : undefined;
    if (!(unknown?.isForOwnPages ?? fromOwnPages)) reply.headers(cors.headersFor(origin));
    const charge = charging(path.spend, reply);
    // The limit that needs no identity comes first, so that guessing credentials is bounded too.
    const anonymous = anonymousGroups(request, rate, limits);
    if (access === 'developer' && !unknown && isSound(request)) {
      request.caller = await developerOf(request, reply, charge, anonymous);
      if (fromAllowedOrigins && origin !== undefined && !cors.isAllowed(origin)) {
        throw new AppError('FORBIDDEN', 'Pages of this origin may not ask for this.');
      }
      return;
    }
    await charge(anonymous);
    if (!isSound(request)) throw new AppError('BAD_REQUEST', 'This is not an acceptable HTTP request.');
    if (unknown) {
      if (!isPreflight(request, unknown)) throw unknownRoute(unknown, request, reply);
      return reply.headers(cors.preflightFor(origin)).code(204).send();
    }
    if (fromOwnPages) refuseOtherPages(request, path.ownOrigin);
    if (access === 'consent') request.caller = await path.consent(browserRequestOf(request));
    if (access === 'session') request.session = sessionIn(request, reply, path.session);
  });

  /** One round trip for a key that is known here, and a second one once the database has said whose it is. */
  async function developerOf(
    request: FastifyRequest,
    reply: FastifyReply,
    charge: Charging,
    anonymous: Groups,
  ): Promise<Caller> {
    const { role = 'full', rate = 'default' } = request.routeOptions.config;
    const identity = (caller: Holder['caller']) =>
      isAllowed(role, caller) ? identityBudgets(caller, rate, limits) : [];
    const apiKey = bearerOf(request);
    const key = apiKey === undefined ? undefined : path.callers.present(apiKey);
    const recalled = key?.recalled;
    const { sighting } = await charge(recalled ? [...anonymous, identity(recalled)] : anonymous, key?.watch);
    let caller = sighting && !sighting.isStale ? recalled : undefined;
    if (!caller) {
      const loaded = await key?.load(sighting);
      if (!loaded) {
        // Whoever proves nothing where good credentials are counted is counted by address instead.
        if (needsIdentity(rate)) {
          await charge([budgetsOf('default', { address: subjectOf(request.ip) }, limits)]);
        }
        throw unauthorized(reply, apiKey);
      }
      caller = loaded.caller;
      if (isAllowed(role, caller)) loaded.keep((await charge([identity(caller)], loaded.watch)).sighting);
    }
    if (!isAllowed(role, caller)) {
      throw new AppError('FORBIDDEN', 'This needs an API key whose role is `full`.');
    }
    return { ...caller, requestId: request.id };
  }

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

/** Not what a proxy before us may read otherwise (RFC 9112, section 3.2), nor what no client sends. */
function isSound({ raw }: FastifyRequest): boolean {
  const hosts = timesSent(raw, 'host');
  const hasHost = hosts === 1 || (hosts === 0 && raw.httpVersion === '1.0');
  return hasHost && raw.rawHeaders.length <= 2 * MOST_HEADERS;
}

const isAllowed = (needed: Role, { role }: Pick<Caller, 'role'>) => needed === 'runtime' || role === 'full';

type Charging = (groups: Groups, watch?: PresentedKey['watch']) => Promise<Settled>;

/** Of all that one request is charged, the headers show what will run out first. */
function charging(spend: Spend, reply: FastifyReply): Charging {
  let shown: Standing | undefined;
  return async (groups, watch) => {
    const settled = await spend(groups, watch);
    const { standing } = settled;
    if (!standing) return settled;
    shown = shown ? tighter(shown, standing) : standing;
    reply.headers(shown.headers);
    if (standing.refusal) throw standing.refusal;
    return settled;
  };
}

/** On a route that counts by identity the address is only looked at: has it failed too often? */
function anonymousGroups(request: FastifyRequest, rate: Rate, limits: RateLimits): Groups {
  const address = subjectOf(request.ip);
  if (needsIdentity(rate)) {
    return [budgetsOf('default', { address }, limits).map((budget) => ({ ...budget, cost: 0 }))];
  }
  const record = recordIdOf(request);
  return [
    budgetsOf(rate, { address }, limits),
    record === undefined ? [] : budgetsOf(rate, { record }, limits),
  ];
}

function identityBudgets({ tenant, plan }: Holder['caller'], rate: Rate, limits: RateLimits) {
  const subject = `developer:${tenant.developerId}`;
  const ofPlan = { rule: 'plan', subject, limit: planLimit(plan, limits), cost: 1 } as const;
  return [...budgetsOf(rate, { developer: tenant.developerId }, limits), ofPlan];
}

function recordIdOf({ params }: FastifyRequest): string | undefined {
  return typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : undefined;
}

/** @throws UNAUTHORIZED */
function sessionIn(request: FastifyRequest, reply: FastifyReply, read: ReadSession) {
  const token = bearerOf(request);
  const session = token === undefined ? undefined : read(token);
  if (session) return { ...session, requestId: request.id };
  throw unauthorized(reply, token, 'Send `Authorization: Bearer <session token>` with one that is good.');
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
