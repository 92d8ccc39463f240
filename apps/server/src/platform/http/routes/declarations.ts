import { type ErrorCode, errorCodes } from '@behest/protocol/errors';
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify';
import { Type } from 'typebox';
import type { Role } from '../../caller.ts';
import { type Capability, needsStepUp } from '../../capabilities.ts';
import { errorShapeOf, OAuthError, ScimError, SetError } from '../answers/error-shapes.ts';
import type { Rate } from '../limits/rate-rules.ts';
import { faultsOfShapes, takesBody } from './taken-shapes.ts';

/** All credentials. `none` takes no credential, and ignores any that is sent. */
export type Access =
  | 'none'
  | 'developer'
  | 'consent'
  | 'connect'
  | 'approver'
  | 'console'
  | 'session'
  | 'grant'
  | 'scim'
  | 'ssf'
  | 'operator';

/**
 * How a route treats an API key that is bound to agents. `own agents`: the route answers about other agents as about
 * another developer's, for which its services hand the caller's `Reach` to their reads. `forbidden`: the route concerns
 * no one agent. `open`: the answer is the same for all keys of the developer.
 */
export type BoundKeys = 'own agents' | 'forbidden' | 'open';

declare module 'fastify' {
  interface FastifyContextConfig {
    access: Access;
    /**
     * What a session of the console needs for the route, on routes that ask for a key: `never` where it acts as an
     * agent, an app or a principal, which no session does.
     */
    capability?: Capability | 'never';
    /** What a session of a sandbox account needs, where `capability` is `never`. */
    sandboxCapability?: Capability;
    /** What a session needs besides for this body, once its shape is checked. */
    capabilityFor?: (body: unknown) => Capability | undefined;
    /** The member of a session has to have used their passkey just now, for any body or for some. */
    stepUp?: true | ((body: unknown) => boolean);
    /** The weakest role of the API key, on routes that ask for a key. */
    role?: Role;
    /** On routes that take a `runtime` key, since only such a key can be bound. */
    boundKeys?: BoundKeys;
    rate: Rate;
    /** The refusals of this route alone. Those of its kind are added. */
    failures: readonly ErrorCode[];
    /**
     * Only the service's own pages may call it. A request that says that it comes from elsewhere is refused.
     */
    fromOwnPages?: true;
    /** The route exists on the host of the service alone, and on no domain of a developer. So do all of an approver. */
    onOwnHost?: true;
    /**
     * A request that says that it comes from a page is refused, unless the operator allows the page's origin.
     */
    fromAllowedOrigins?: true;
    /** Pages of every origin may call it, without credentials that a browser sends by itself. */
    fromAnyOrigin?: true;
    /** Its answer is a document for everybody: pages of every origin may read it, and a refusal too. */
    isPublic?: true;
    /** A resource may call it with its credential, in place of an API key. */
    takesResources?: true;
    /** A resource may call it with a token that it got in exchange for one that it received. */
    takesExchanged?: true;
    /** The scope of a receiver's access token, on routes that take one. */
    ssfScope?: 'ssf.read' | 'ssf.manage';
    /** The shape of refusals, if it is not the service's own. A browser that asks for a page gets one with `page`. */
    errors?: 'oauth' | 'oauth page' | 'page' | 'scim' | 'set';
    /**
     * The GET has an effect, so there is no HEAD of it, and a browser that fetches it ahead of a person is refused.
     */
    actsOnGet?: true;
    /** Its answer continues until either side ends it. */
    isLive?: true;
  }
  interface FastifyRequest {
    /** The declarations of its route. Fastify's `routeOptions` makes an object of them at each use. */
    declared: FastifyContextConfig;
    /** The route's pattern, `/v1/agents/:id`, or `unknown`. */
    pattern: string;
  }
  interface FastifySchema {
    operationId?: string;
    summary?: string;
    /** Left out of the published description. */
    hide?: boolean;
    description?: string;
    tags?: readonly string[];
    /** The media types of the body, where it is not JSON. */
    consumes?: readonly string[];
    security?: readonly { [scheme: string]: readonly string[] }[];
  }
}

/** The methods of each path, and whose pages may use it. */
export type Paths = ReadonlyMap<
  string,
  { methods: ReadonlySet<string>; isForOwnPages: boolean; fromAnyOrigin: boolean; isPublic: boolean }
>;

/**
 * A route that leaves a member undeclared, or takes more than it declares, stops the server from starting. Add it
 * before the hooks, which read what the route of their request declares.
 */
export function requireDeclarations(app: FastifyInstance): Paths {
  const paths = new Map<
    string,
    { methods: Set<string>; isForOwnPages: boolean; fromAnyOrigin: boolean; isPublic: boolean }
  >();
  app.decorateRequest('declared');
  app.decorateRequest('pattern', 'unknown');
  app.addHook('onRequest', (request, _reply, done) => {
    const { config, url = 'unknown' } = request.routeOptions;
    request.declared = config;
    request.pattern = url;
    done();
  });
  app.addHook('onRoute', (route) => {
    const missing = Object.entries(declarationsOf(route)).filter(([, value]) => !value);
    const names = missing.map(([name]) => name).join(', ');
    if (names) throw new Error(`${route.method} ${route.url} does not declare ${names}.`);
    const faults = faultsOfShapes(route).join('; ');
    if (faults) throw new Error(`${route.method} ${route.url}: ${faults}.`);

    route.schema = {
      ...route.schema,
      ...(isAskedByPrograms(route) && { querystring: closedQuery(route.schema?.querystring) }),
      tags: [String(route.schema?.operationId).split('.')[0] ?? ''],
      security: route.config?.access === 'none' ? [] : [{ [String(route.config?.access)]: [] }],
      ...(route.config?.takesForm === 'only' && { consumes: ['application/x-www-form-urlencoded'] }),
      response: { ...failureShapes(route), ...Object(route.schema?.response) },
    };
    const known = paths.get(route.url) ?? {
      methods: new Set(),
      isForOwnPages: false,
      fromAnyOrigin: false,
      isPublic: false,
    };
    if (route.method !== 'HEAD' || !route.config?.actsOnGet) known.methods.add(String(route.method));
    known.fromAnyOrigin ||= route.config?.fromAnyOrigin === true;
    known.isPublic ||= route.config?.isPublic === true;
    known.isForOwnPages ||= route.config?.fromOwnPages === true;
    paths.set(route.url, known);
  });
  return paths;
}

/** Browsers, directories and receivers add members of their own to a query; a program's unknown member is a mistake. */
const isAskedByPrograms = ({ config }: RouteOptions) =>
  config !== undefined &&
  config.keepsTail !== true && // its query is the upstream's
  config.errors === undefined && // RFC 6749 §3.1: unrecognized parameters are ignored
  (config.access === 'developer' || config.access === 'grant' || config.access === 'operator');

const closedQueries = new WeakMap<object, object>();
const NO_QUERY = Type.Object({}, { additionalProperties: false });

/** The schema of a query that takes no further members. Routes that share a schema go on sharing it. */
function closedQuery(querystring: unknown): object {
  if (typeof querystring !== 'object' || querystring === null) return NO_QUERY;
  const closed = closedQueries.get(querystring) ?? { ...querystring, additionalProperties: false };
  closedQueries.set(querystring, closed);
  return closed;
}

function declarationsOf({ method, url, config, schema }: RouteOptions) {
  return {
    operationId: schema?.operationId,
    summary: schema?.summary,
    access: config?.access,
    role: config?.role ?? config?.access !== 'developer',
    capability: config?.capability ?? config?.access !== 'developer',
    boundKeys: config?.boundKeys ?? config?.role !== 'runtime',
    rate: config?.rate,
    failures: config?.failures,
    response: schema?.response,
    params: schema?.params ?? !url.includes(':'),
    body: schema?.body ?? (config?.streamsBody || !takesBody(method)),
  };
}

/** The precise codes that a client has to expect, by status, as the published description shows them. */
function failureShapes({ method, url, config }: RouteOptions) {
  const codes = new Set<ErrorCode>(['BAD_REQUEST', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE']);
  if (config?.rate !== 'unlimited') codes.add('RATE_LIMITED');
  for (const code of config?.failures ?? []) codes.add(code);
  if (config?.access === 'operator') codes.add('NOT_CONFIGURED');
  if (url.includes(':')) codes.add('NOT_FOUND'); // no id of ours has the form that the path has
  if (config?.onOwnHost || config?.access === 'approver' || config?.access === 'console')
    codes.add('NOT_FOUND');
  if (config?.access !== 'none') codes.add('UNAUTHORIZED');
  // The session of a member whose role has not the capability, too.
  const mayForbid = config?.access === 'developer' || config?.access === 'console';
  if (
    mayForbid ||
    config?.fromOwnPages ||
    config?.fromAllowedOrigins ||
    config?.ssfScope ||
    config?.actsOnGet
  )
    codes.add('FORBIDDEN');
  if (mayStepUp(config)) codes.add('STEP_UP_REQUIRED');
  if (isRepeatable({ method, config })) codes.add('IDEMPOTENCY_CONFLICT').add('IDEMPOTENCY_IN_PROGRESS');
  if (config?.isHeavy) codes.add('TOO_MANY_CONNECTIONS');
  if (takesBody(method)) codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  if (method === 'DELETE') codes.add('PAYLOAD_TOO_LARGE'); // its body is ignored, but has to be small enough

  const shape = shapeOfFailures(config?.errors);
  const byStatus = Map.groupBy(codes, (code) => errorCodes[code].status);
  return Object.fromEntries([...byStatus].map(([status, allowed]) => [status, shape(allowed)]));
}

const mayStepUp = (config: Partial<FastifyContextConfig> | undefined): boolean =>
  config?.stepUp !== undefined || config?.capabilityFor !== undefined || needsStepUp(config?.capability);

/** Whether a request may have an `Idempotency-Key`. */
export const isRepeatable = ({ method, config }: Declared) =>
  config?.access === 'developer' && (method === 'POST' || method === 'PATCH');

function shapeOfFailures(errors: FastifyContextConfig['errors']) {
  if (errors === 'oauth' || errors === 'oauth page') return () => OAuthError;
  if (errors === 'set') return () => SetError;
  return errors === 'scim' ? () => ScimError : errorShapeOf;
}

interface Declared {
  readonly method?: unknown;
  readonly config?: Partial<FastifyContextConfig> | undefined;
}
