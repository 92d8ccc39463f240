import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { isOAuthPath } from '../oauth-errors.ts';
import { crossOrigin, FROM_ANY_ORIGIN } from './answers/cors.ts';
import { FOR_ALL_ORIGINS } from './answers/send-finished.ts';
import { standardHeaders } from './answers/standard-headers.ts';
import { type CredentialCallersOptions, credentialCallers } from './callers/credential-callers.ts';
import { type AuthenticateBrowser, cookiesIn, timesSent } from './callers/credentials.ts';
import { anonymousBills, chargingOf, resourceBills, resourceIdOf, sessionBills } from './limits/bills.ts';
import type { ChargeRates } from './limits/rates.ts';
import type { Paths } from './routes/declarations.ts';
import { type KnownPath, pathFinder, unknownRoute } from './routes/unknown-route.ts';

/** Credentials that are charged by themselves, in one trip with the address. */
const KEYED: ReadonlySet<unknown> = new Set(['developer', 'grant', 'scim', 'ssf']);
const MOST_HEADERS = 100; // lines; browsers and proxies together send some thirty

export interface RequestPathOptions extends CredentialCallersOptions {
  readonly charge: ChargeRates;
  readonly consent: AuthenticateBrowser;
  readonly connect: AuthenticateBrowser;
  readonly approver: AuthenticateBrowser;
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
  const by = credentialCallers(path);

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
    if (isOAuthPath(request.url)) reply.header('pragma', 'no-cache'); // for caches of HTTP/1.0: RFC 6749 §5.1
    const { origin } = request.headers;
    const { access, rate, fromOwnPages, fromAllowedOrigins, onOwnHost } = request.declared;
    const unknown = isUnknown(request) ? findPath(request.url) : undefined;
    const { fromAnyOrigin, isPublic } = unknown ?? request.declared;
    if (isPublic) reply.headers(FOR_ALL_ORIGINS);
    else if (fromAnyOrigin) reply.headers(FROM_ANY_ORIGIN);
    else if (!(unknown?.isForOwnPages ?? fromOwnPages)) reply.headers(cors.headersFor(origin));
    const charge = chargingOf(path.charge, reply);
    // Each request is charged before its credential is looked at, so that guesses are bounded too. An API key is
    // charged with its developer, in one trip, and a grant token with its own count.
    const isKeyed = KEYED.has(access) && !unknown && isSound(request);
    if (!isKeyed && rate !== 'unlimited') await charge(anonymousBills(request, limits));
    if (!isSound(request)) throw new AppError('BAD_REQUEST', 'This is not an acceptable HTTP request.');
    if (unknown) {
      if (!isPreflight(request, unknown)) throw unknownRoute(unknown, request);
      const allowed = fromAnyOrigin ? cors.preflightForAll(unknown.methods) : cors.preflightFor(origin);
      return reply
        .headers(isPublic ? cors.preflightForDocument : allowed)
        .code(204)
        .send();
    }
    if (request.declared.actsOnGet && isFetchedAhead(request)) {
      throw new AppError('FORBIDDEN', 'This address is not to be fetched ahead. Open it.');
    }
    if ((onOwnHost || access === 'approver') && (await isOfDeveloper(request, path)))
      throw unknownRoute({ methods: [] }, request);
    if (fromOwnPages) await refuseOtherPages(request, path);
    if (access === 'approver') mustSayWhence(request);
    if (access === 'developer') request.caller = await by.callerByKey(request, reply, charge);
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
    if (access === 'grant') request.holder = await by.holderByToken(request, reply, charge);
    if (access === 'scim') request.caller = await by.provisionerByToken(request, reply, charge);
    if (access === 'ssf') request.caller = await by.receiverByToken(request, reply, charge);
    if (access === 'operator') request.operator = by.operatorIn(request, reply);
    if (access === 'session') request.session = await by.sessionIn(request, reply, charge);
    if (fromAllowedOrigins && origin !== undefined && !cors.isAllowed(origin)) {
      throw new AppError('FORBIDDEN', 'Pages of this origin may not call this route.');
    }
  });

  // Never reached, since the hook above has thrown; without it Fastify would skip that hook.
  app.setNotFoundHandler(() => {});
}

/** The router reads a slash at the end of a path as an empty id, and makes a HEAD of each GET. */
const isUnknown = ({ is404, url, method, declared }: FastifyRequest) =>
  is404 || /^[^?#]*\/([?#]|$)/.test(url) || (method === 'HEAD' && declared.actsOnGet === true);

/** Browsers say so by `Sec-Purpose` (Fetch, section 3.8), and older ones by names of their own. */
const isFetchedAhead = ({ headers }: FastifyRequest) =>
  ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    /\b(?:prefetch|prerender|preview)\b/i.test(String(headers[name] ?? '')),
  );

/** A browser asks first when a form could not send the request (Fetch, section 3.3.2). */
const isPreflight = ({ method, headers }: FastifyRequest, { methods, isForOwnPages, isPublic }: KnownPath) =>
  method === 'OPTIONS' &&
  (methods.length > 0 || isPublic) &&
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
    isBackground: request.declared.isLive === true || headers['behest-background'] === '1',
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

/** Whether a request came to the domain of a developer, whose pages the service may serve too. */
async function isOfDeveloper(
  { headers }: FastifyRequest,
  { ownOrigin, servesHost }: Pick<RequestPathOptions, 'ownOrigin' | 'servesHost'>,
): Promise<boolean> {
  // The forms of one host: upper case, the root's dot, a port.
  const host = (headers.host ?? '').toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  return host !== new URL(ownOrigin).hostname && (await servesHost(host));
}

/** A cookie that decides about calls counts only where the browser says that the page is the service's own. */
function mustSayWhence({ headers, method }: FastifyRequest): void {
  const isRead = method === 'GET' || method === 'HEAD';
  if (headers['sec-fetch-site'] !== undefined && (isRead || headers.origin !== undefined)) return;
  throw new AppError('FORBIDDEN', 'Send `Sec-Fetch-Site` and `Origin`, as browsers do.');
}

/** AuthZEN has ids of more characters. */
const WIDER_IDS = /^\/access\/v1\//;

/** Keeps the client's id of a request when it cannot hurt a log. */
export function requestIdOf({ headers, url = '' }: IncomingMessage): string {
  const given = String(headers['x-request-id'] ?? '');
  const kept = WIDER_IDS.test(url) ? /^[!-~]{1,128}$/ : /^[\w.-]{1,64}$/;
  return kept.test(given) ? given : randomUUID();
}
