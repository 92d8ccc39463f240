import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { newUuid } from '../ids.ts';
import { isOAuthPath } from '../oauth-errors.ts';
import { crossOrigin, FROM_ANY_ORIGIN, standardHeaders } from './answers/headers.ts';
import { FOR_ALL_ORIGINS } from './answers/send.ts';
import { type Credentials, timesSent } from './callers/credentials.ts';
import { callerKinds } from './callers/kinds.ts';
import type { KnownCallers } from './callers/known-callers.ts';
import { anonymousBills, chargingOf } from './limits/bills.ts';
import type { RateLimits } from './limits/rate-rules.ts';
import type { ChargeRates } from './limits/rates.ts';
import type { Paths } from './routes/declarations.ts';
import { type KnownPath, pathFinder, unknownRoute } from './routes/pages.ts';

const MAX_HEADERS = 100; // lines; browsers and proxies together send some thirty

export interface RequestPathOptions {
  readonly charge: ChargeRates;
  readonly limits: RateLimits;
  readonly credentials: Credentials;
  readonly callers: KnownCallers;
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
  const { limits, credentials, callers } = path;
  const findPath = pathFinder(path.paths);
  const cors = crossOrigin(path.corsAllowedOrigins);
  const headers = standardHeaders(path.isProduction);

  app.decorateRequest('caller', null);

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
    const kind = callerKinds[access]; // undefined where there is no route
    // Each request is charged before its credential is looked at, so that guesses are bounded too.
    const hasSoundHead = isSound(request);
    const chargesAddress = kind?.chargesAddress && !unknown && hasSoundHead;
    if (!chargesAddress && rate !== 'unlimited') await charge(anonymousBills(request, limits));
    if (!hasSoundHead) throw new AppError('BAD_REQUEST', 'This is not an acceptable HTTP request.');
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
    if ((onOwnHost || kind.isOnOwnHost) && (await isOfDeveloper(request, path)))
      throw unknownRoute({ methods: [] }, request);
    if (fromOwnPages) await refuseOtherPages(request, path);
    request.caller = await kind.authenticate({ request, reply, charge, limits, credentials, callers });
    const isMember = request.caller.kind === 'member'; // of the service's own origin
    if (fromAllowedOrigins && !isMember && origin !== undefined && !cors.isAllowed(origin)) {
      throw new AppError('FORBIDDEN', 'Pages of this origin may not call this route.');
    }
  });

  // Never reached, since the hook above has thrown; without it Fastify would skip that hook.
  app.setNotFoundHandler(() => {});
}

/** The router reads a slash at the end of a path, other than the root, as an empty id, and makes a HEAD of each GET. */
const isUnknown = ({ is404, url, method, declared }: FastifyRequest) =>
  is404 || /^[^?#]+\/([?#]|$)/.test(url) || (method === 'HEAD' && declared.actsOnGet === true);

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
  return hasHost && raw.rawHeaders.length <= 2 * MAX_HEADERS;
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

/** AuthZEN has ids of more characters. */
const WIDER_IDS = /^\/access\/v1\//;

/** Keeps the client's id of a request when it cannot hurt a log. */
export function requestIdOf({ headers, url = '' }: IncomingMessage): string {
  if (headers['x-request-id'] === undefined) return newUuid(new Date());
  const given = String(headers['x-request-id']);
  const kept = WIDER_IDS.test(url) ? /^[!-~]{1,128}$/ : /^[\w.-]{1,64}$/;
  return kept.test(given) ? given : newUuid(new Date());
}
