import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, GrantHolder, OperatorCaller } from '../caller.ts';
import { AppError } from '../errors.ts';
import { hashOf } from '../ids.ts';
import { crossOrigin } from './answers/cors.ts';
import { standardHeaders } from './answers/standard-headers.ts';
import { authenticateKey } from './callers/api-key.ts';
import {
  type AuthenticateBrowser,
  bearerOf,
  type CheckOperator,
  cookiesIn,
  type FindProvisioner,
  type FindResource,
  type FindSsfCaller,
  type ReadHolder,
  type ReadSession,
  timesSent,
  unauthorized,
} from './callers/credentials.ts';
import type { KnownCallers } from './callers/known-callers.ts';
import { grantTokenUnauthorized, shownToken } from './callers/proof-of-possession.ts';
import {
  anonymousBills,
  type Charging,
  chargingOf,
  developerBill,
  failureBills,
  resourceBills,
  resourceIdOf,
  sessionBills,
  timesBill,
  tokenBill,
} from './limits/bills.ts';
import type { RateLimits } from './limits/rate-rules.ts';
import type { ChargeRates, RateBill } from './limits/rates.ts';
import type { Paths } from './routes/declarations.ts';
import { type KnownPath, pathFinder, unknownRoute } from './routes/unknown-route.ts';

/** Credentials that are charged by themselves, in one trip with the address. */
const KEYED: ReadonlySet<unknown> = new Set(['developer', 'grant', 'scim', 'ssf']);
const MOST_HEADERS = 100; // lines; browsers and proxies together send some thirty

export interface RequestPathOptions {
  readonly charge: ChargeRates;
  readonly limits: RateLimits;
  readonly callers: KnownCallers;
  readonly consent: AuthenticateBrowser;
  readonly connect: AuthenticateBrowser;
  readonly approver: AuthenticateBrowser;
  readonly session: ReadSession;
  readonly grant: ReadHolder;
  readonly scim: FindProvisioner;
  readonly ssf: FindSsfCaller;
  readonly resource: FindResource;
  readonly operator: CheckOperator;
  readonly paths: Paths;
  readonly isProduction: boolean;
  /** Origins whose pages may call the API. */
  readonly corsAllowedOrigins: readonly string[];
  /** The origin of the service's own pages, as browsers name it: `https://auth.example`. */
  readonly ownOrigin: string;
  /** Whether its pages may come from this host too. */
  readonly servesHost: (host: string) => Promise<boolean>;
}

/** Adds the steps that every request takes before its body is read, in this order. */
export function addRequestPath(app: FastifyInstance, path: RequestPathOptions): void {
  const { limits } = path;
  const findPath = pathFinder(path.paths);
  const cors = crossOrigin(path.corsAllowedOrigins);
  const headers = standardHeaders(path.isProduction);

  app.decorateRequest('caller', null);
  app.decorateRequest('session', null);
  app.decorateRequest('holder', null);
  app.decorateRequest('operator', null);
  app.decorateRequest('chargeResource');
  app.decorateRequest('chargeMore');
  app.decorateRequest('resourceServer', null);
  app.decorateRequest('ssfReceiver', null);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers).header('x-request-id', request.id);
    const { origin } = request.headers;
    const { access, rate, fromOwnPages, fromAllowedOrigins, fromAnyOrigin } = request.declared;
    const unknown = isUnknown(request) ? findPath(request.url) : undefined;
    const isForAll = unknown?.isForAnyOrigin ?? fromAnyOrigin;
    if (isForAll) reply.headers(cors.headersForAll);
    else if (!(unknown?.isForOwnPages ?? fromOwnPages)) reply.headers(cors.headersFor(origin));
    const charge = chargingOf(path.charge, reply);
    // Each request is charged before its credential is looked at, so that guesses are bounded too. An API key is
    // charged with its developer, in one trip, and a grant token with its own count.
    const isKeyed = KEYED.has(access) && !unknown && isSound(request);
    if (!isKeyed && rate !== 'unlimited') await charge(anonymousBills(request, limits));
    if (!isSound(request)) throw new AppError('BAD_REQUEST', 'This is not an acceptable HTTP request.');
    if (unknown) {
      if (!isPreflight(request, unknown)) throw unknownRoute(unknown, request);
      return reply
        .headers(isForAll ? cors.preflightForAll : cors.preflightFor(origin))
        .code(204)
        .send();
    }
    if (fromOwnPages) await refuseOtherPages(request, path);
    if (access === 'developer') request.caller = await callerByKey(request, reply, charge);
    if (access === 'consent' || access === 'connect') {
      request.caller = await path[access](browserRequestOf(request));
      await charge(resourceBills(request, limits));
    }
    if (access === 'approver') {
      request.caller = await path.approver(browserRequestOf(request));
      await charge(sessionBills(request, request.caller.actor, limits));
    }
    if (access === 'none')
      request.chargeResource = async () => void (await charge(resourceBills(request, limits)));
    if (access === 'grant') request.holder = await holderByToken(request, reply, charge);
    if (access === 'scim') request.caller = await provisionerByToken(request, reply, charge);
    if (access === 'ssf') request.caller = await receiverByToken(request, reply, charge);
    if (access === 'operator') request.operator = operatorIn(request, reply);
    if (access === 'session') request.session = await sessionIn(request, reply, charge);
    if (fromAllowedOrigins && origin !== undefined && !cors.isAllowed(origin)) {
      throw new AppError('FORBIDDEN', 'Pages of this origin may not call this route.');
    }
  });

  /** @throws UNAUTHORIZED, FORBIDDEN, RATE_LIMITED */
  async function callerByKey(
    request: FastifyRequest,
    reply: FastifyReply,
    charge: Charging,
  ): Promise<Caller> {
    const apiKey = bearerOf(request);
    if (request.declared.takesResources && apiKey?.startsWith('bh_res_')) {
      return resourceByCredential(request, reply, { credential: apiKey, charge });
    }
    const { role = 'full', boundKeys = 'forbidden' } = request.declared;
    const authentication = await authenticateKey(path.callers, {
      apiKey,
      role,
      takesBoundKeys: boundKeys !== 'forbidden',
      charge,
      anonymousBills: anonymousBills(request, limits),
      developerBill: (identity) => developerBill(request, identity, limits),
    });
    if (authentication.result === 'accepted') {
      const bill = developerBill(request, authentication.identity, limits);
      if (request.declared.takesResources) request.chargeMore = chargeMoreOf(bill, charge);
      return { ...authentication.identity, requestId: request.id, address: request.ip };
    }
    if (authentication.because === 'role_too_weak') {
      throw new AppError('FORBIDDEN', 'This route needs an API key with the role `full`.');
    }
    if (authentication.because === 'key_is_bound') {
      const message =
        'This route concerns more than the agents of this API key; use a key that is not bound.';
      throw new AppError('FORBIDDEN', message);
    }
    await charge(failureBills(request, limits));
    throw unauthorized(reply, apiKey);
  }

  /**
   * A good token is charged by its id and never to its developer's plan. Every other costs its address.
   * @throws UNAUTHORIZED with one sentence for every reason, RATE_LIMITED
   */
  async function holderByToken(
    request: FastifyRequest,
    reply: FastifyReply,
    charge: Charging,
  ): Promise<GrantHolder> {
    const shown = shownToken(request);
    const read = shown === undefined ? { refusal: 'missing' } : await path.grant(shown);
    if (!('refusal' in read)) {
      await charge([...anonymousBills(request, limits), tokenBill(request, read.tokenId, limits)]);
      return { ...read, requestId: request.id, address: request.ip };
    }
    await charge(failureBills(request, limits));
    request.log.info({ reason: read.refusal }, 'grant token refused');
    throw grantTokenUnauthorized(reply, shown, read);
  }

  /** As `holderByToken`. @throws UNAUTHORIZED, RATE_LIMITED */
  async function resourceByCredential(
    request: FastifyRequest,
    reply: FastifyReply,
    { credential, charge }: { readonly credential: string; readonly charge: Charging },
  ): Promise<Caller> {
    const found = await path.resource(hashOf(credential));
    if (found) {
      const { resource, connectors, ...identity } = found;
      request.resourceServer = { resource, connectors };
      const bill = tokenBill(request, identity.actor, limits);
      await charge([...anonymousBills(request, limits), bill]);
      request.chargeMore = chargeMoreOf(bill, charge);
      return { ...identity, requestId: request.id, address: request.ip };
    }
    await charge(failureBills(request, limits));
    throw unauthorized(reply, credential);
  }

  /** As `holderByToken`. @throws UNAUTHORIZED, RATE_LIMITED */
  async function provisionerByToken(
    request: FastifyRequest,
    reply: FastifyReply,
    charge: Charging,
  ): Promise<Caller> {
    const token = bearerOf(request);
    const found = token === undefined ? undefined : await path.scim(hashOf(token));
    if (found) {
      await charge([...anonymousBills(request, limits), tokenBill(request, found.actor, limits)]);
      return { ...found, requestId: request.id };
    }
    await charge(failureBills(request, limits));
    throw unauthorized(reply, token, 'Send `Authorization: Bearer <SCIM token>` with a valid token.');
  }

  /** As `holderByToken`. @throws UNAUTHORIZED, FORBIDDEN for a token without the route's scope, RATE_LIMITED */
  async function receiverByToken(
    request: FastifyRequest,
    reply: FastifyReply,
    charge: Charging,
  ): Promise<Caller> {
    const token = bearerOf(request);
    const found = token === undefined ? undefined : await path.ssf(hashOf(token));
    if (!found) {
      await charge(failureBills(request, limits));
      throw unauthorized(reply, token, 'Send `Authorization: Bearer <access token>` with a valid token.');
    }
    const { receiverId, scopes, ...identity } = found;
    await charge([...anonymousBills(request, limits), tokenBill(request, receiverId, limits)]);
    const { ssfScope = '' } = request.declared;
    if (!scopes.includes(ssfScope)) {
      reply.header('www-authenticate', `Bearer error="insufficient_scope", scope="${ssfScope}"`);
      throw new AppError('FORBIDDEN', `This route needs a token with the scope \`${ssfScope}\`.`);
    }
    request.ssfReceiver = receiverId;
    return { ...identity, requestId: request.id, address: request.ip };
  }

  /** The address was charged already. @throws UNAUTHORIZED, NOT_CONFIGURED */
  function operatorIn(request: FastifyRequest, reply: FastifyReply): OperatorCaller {
    const key = bearerOf(request);
    if (path.operator(key)) return { actor: 'admin', requestId: request.id };
    throw unauthorized(reply, key, 'Send `Authorization: Bearer <ADMIN_API_KEY>`.');
  }

  async function sessionIn(request: FastifyRequest, reply: FastifyReply, charge: Charging) {
    const token = bearerOf(request);
    const session = token === undefined ? undefined : path.session(token);
    if (session) {
      await charge(sessionBills(request, session.sessionId, limits));
      return { ...session, requestId: request.id };
    }
    await charge(failureBills(request, limits));
    throw unauthorized(reply, token, 'Send `Authorization: Bearer <session token>` with a valid token.');
  }

  // Never reached, since the hook above has thrown; without it Fastify would skip that hook.
  app.setNotFoundHandler(() => {});
}

/** The router reads a slash at the end of a path as an empty id. */
const isUnknown = ({ is404, url }: FastifyRequest) => is404 || /^[^?#]*\/([?#]|$)/.test(url);

/** A browser asks first when a form could not send the request (Fetch, section 3.3.2). */
const isPreflight = ({ method, headers }: FastifyRequest, { methods, isForOwnPages }: KnownPath) =>
  method === 'OPTIONS' &&
  methods.length > 0 &&
  !isForOwnPages &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;

/** Refuses a request that a proxy may read otherwise (RFC 9112, section 3.2), or that no client sends. */
function isSound({ raw }: FastifyRequest): boolean {
  const hosts = timesSent(raw, 'host');
  const hasHost = hosts === 1 || (hosts === 0 && raw.httpVersion === '1.0');
  return hasHost && raw.rawHeaders.length <= 2 * MOST_HEADERS;
}

function browserRequestOf(request: FastifyRequest) {
  const { headers, method, ip, id: requestId } = request;
  return {
    resourceId: resourceIdOf(request) ?? '',
    cookies: cookiesIn(headers),
    csrfToken: headers['x-csrf-token']?.toString(),
    isWrite: method !== 'GET' && method !== 'HEAD',
    hasAuthorization: headers.authorization !== undefined,
    requestId,
    ip,
    userAgent: headers['user-agent'],
  };
}

/** A browser says where a request comes from, and a page cannot change that (Fetch, section 3.2). */
async function refuseOtherPages(
  { headers }: FastifyRequest,
  { ownOrigin, servesHost }: Pick<RequestPathOptions, 'ownOrigin' | 'servesHost'>,
): Promise<void> {
  const { origin = ownOrigin, host = '', 'sec-fetch-site': site = 'same-origin' } = headers;
  if (site === 'same-origin') {
    if (origin === ownOrigin) return;
    // A page of the same service under a developer's domain names the host that the request came to.
    if (origin === `${new URL(ownOrigin).protocol}//${host}` && (await servesHost(host))) return;
  }
  throw new AppError('FORBIDDEN', 'Only pages of this service may call this route.');
}

const chargeMoreOf = (bill: RateBill, charge: Charging) => async (times: number) => {
  await charge([timesBill(bill, times)]);
};

/** AuthZEN has ids of more characters. */
const WIDER_IDS = /^\/access\/v1\//;

/** Keeps the client's id of a request when it cannot hurt a log. */
export function requestIdOf({ headers, url = '' }: IncomingMessage): string {
  const given = String(headers['x-request-id'] ?? '');
  const kept = WIDER_IDS.test(url) ? /^[!-~]{1,128}$/ : /^[\w.-]{1,64}$/;
  return kept.test(given) ? given : randomUUID();
}
