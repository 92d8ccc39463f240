import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import { type ErrorCode, errorCodes } from '@behest/protocol/errors';
import type { FastifySchema, RouteOptions } from 'fastify';
import { buildApp } from '../../../apps/server/src/app.ts';
import { loadConfig } from '../../../apps/server/src/config.ts';
import { createKeyRing } from '../../../apps/server/src/features/service/keys/index.ts';
import { features, keyUses } from '../../../apps/server/src/features.ts';
import { openDatabase } from '../../../apps/server/src/platform/db/open-database.ts';
import { isRepeatable } from '../../../apps/server/src/platform/http/routes/declarations.ts';
import { memoryStore } from '../../../apps/server/src/platform/redis/memory-store.ts';
import { VERSION } from '../../../apps/server/src/platform/version.ts';
import { openService } from '../../../apps/server/src/service.ts';
import { watchingRoutes } from '../../../apps/server/test/app/watched-routes.ts';
import { Components, laidOut, schemaNames, sharedParts } from './components.ts';
import { withExamples } from './examples.ts';

/** The operations of a path by their methods. */
type Operations = Readonly<Record<string, object>>;

interface Parameters {
  readonly properties?: Readonly<
    Record<string, { readonly description?: string; readonly default?: unknown }>
  >;
  readonly required?: readonly string[];
}

const pathOf = (url: string): string => url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{*}');

const KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  description: 'Names the request: a repeat with the same key gets the first answer.',
};
const REPLAYED = {
  schema: { type: 'string', enum: ['true'] },
  description: 'The service gave this answer before.',
};

/** A route as an operation of the description. */
function operationOf(route: RouteOptions, components: Components): object {
  const { operationId, summary, description, tags, security, consumes, ...schema }: FastifySchema =
    route.schema ?? {};
  const parameters = [
    ...parametersOf('query', schema.querystring, components),
    ...parametersOf('path', schema.params ?? { properties: namesIn(route.url) }, components),
    ...(isRepeatable(route) ? [KEY] : []),
  ];
  const body = schema.body ? components.add(Object(schema.body), 'input') : undefined;
  return {
    ...{ operationId, summary, tags, description, security },
    ...(route.config?.capability && { 'x-capability': route.config.capability }),
    ...(route.config?.sandboxCapability && { 'x-sandbox-capability': route.config.sandboxCapability }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: Object.fromEntries(
          (consumes ?? ['application/json']).map((type) => [type, { schema: body }]),
        ),
      },
    }),
    responses: responsesOf(Object(schema.response), isRepeatable(route), components),
  };
}

const namesIn = (url: string) =>
  Object.fromEntries([...url.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, { type: 'string' }]));

function parametersOf(place: 'query' | 'path', given: unknown, components: Components): object[] {
  const { properties = {}, required = [] }: Parameters = Object(given);
  return Object.entries(properties).map(([name, member]) => {
    const { description, ...schema } = member;
    const isNeeded = place === 'path' || (required.includes(name) && member.default === undefined);
    return {
      ...{ name, in: place, required: isNeeded, schema: components.add(schema, 'input') },
      ...(description && { description }),
    };
  });
}

function responsesOf(
  shapes: Readonly<Record<string, Response>>,
  isRepeated: boolean,
  components: Components,
) {
  const responses = Object.entries(shapes).map(([status, shape]) => {
    const headers = isRepeated && status.startsWith('2') && { 'Idempotency-Replayed': REPLAYED };
    return [status, { ...responseOf(status, shape, components), ...(headers && { headers }) }];
  });
  return Object.fromEntries(responses);
}

interface Response {
  readonly type?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly properties?: {
    readonly code?: { readonly enum?: readonly ErrorCode[] };
    readonly requestId?: object;
  };
}

function responseOf(status: string, shape: Response, components: Components): object {
  const { code, requestId } = shape.properties ?? {};
  if (status >= '400' && code?.enum && requestId) return refusalOf(code.enum, shape, components);
  const description = shape.description ?? (status < '400' ? STATUS_CODES[status] : 'Refused');
  if (shape.type === 'null') return { description };
  const contents = Object.entries(shape.content ?? { 'application/json': { schema: shape } });
  const content = contents.map(([type, { schema }]) => [type, { schema: components.add(schema, 'answer') }]);
  return { description, content: Object.fromEntries(content) };
}

/** Every refusal has the members of `Error`; each status has its own codes. */
function refusalOf(codes: readonly ErrorCode[], shape: Response, components: Components): object {
  const { properties } = components.add(shape, 'answer') as {
    properties: Record<string, { properties?: object }>;
  };
  const { details } = properties;
  const own = {
    code: { enum: codes },
    ...(details?.properties &&
      Object.keys(details.properties).length > 0 && { details: { properties: details.properties } }),
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCodes[code].meaning}`).join(' '),
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: own }] },
      },
    },
  };
}

/** The shape of every refusal that no standard describes. */
const errorSchemas = {
  Error: {
    type: 'object',
    required: ['code', 'message', 'requestId'],
    properties: {
      code: { $ref: '#/components/schemas/ErrorCode' },
      message: { type: 'string' },
      requestId: { type: 'string' },
      details: { type: 'object', properties: {}, additionalProperties: true },
    },
  },
  ErrorCode: { enum: Object.keys(errorCodes) },
};

const ROOT = join(import.meta.dirname, '../../..');
const PUBLIC_BASE_URL = 'http://localhost:3001';
const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description });
const cookie = (name: string) => ({ type: 'apiKey', in: 'cookie', name });

/** The first words of the operation ids of the platform's own routes. */
const OWN_TAGS = { pages: 'Files that the pages for people share.' };

/**
 * The tags by what a reader wants, in the order in which a product meets them. The page at `/docs` has a part for each
 * group.
 */
const TAG_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Ask for consent': [
    'authorization',
    'consent',
    'grants',
    'verifiers',
    'policies',
    'principals',
    'webauthn',
    'verifiableCredentials',
  ],
  'Get and use tokens': ['tokens', 'oauth', 'keys', 'resources', 'workloads', 'assertions', 'dids'],
  'Use accounts elsewhere': ['providers', 'connections', 'vault', 'passports', 'walletAuthorizations'],
  'Enforce and approve calls': [
    'manifests',
    'enforcement',
    'authzen',
    'budgets',
    'policyBundles',
    'decisions',
    'approvers',
    'approver',
  ],
  'See what happened': [
    'audit',
    'transparency',
    'receipts',
    'events',
    'webhooks',
    'anomalies',
    'compliance',
    'requests',
    'insights',
    'search',
    'ssfReceivers',
    'ssf',
  ],
  'Set up the account': [
    'developers',
    'agents',
    'apiKeys',
    'console',
    'members',
    'changes',
    'emails',
    'domains',
    'usage',
    'billing',
  ],
  'Set up single sign-on and provisioning': ['setup', 'sso', 'scimTokens', 'scim', 'signals'],
  'Run the service': ['operations', 'operator', 'pages'],
};

/** The text of `openapi.json`: every route of the service, described with named parts. */
export async function apiDescription(): Promise<string> {
  const components = new Components(await schemaNames(ROOT), errorSchemas);
  const paths: Record<string, Operations> = {};
  for (const route of await routesOfService()) {
    if (route.schema?.hide) continue;
    const path = pathOf(route.url);
    paths[path] = { ...paths[path], [String(route.method).toLowerCase()]: operationOf(route, components) };
  }
  const tags: Readonly<Record<string, string>> = Object.assign(
    {},
    ...features.map(({ tags: of }) => of),
    OWN_TAGS,
  );
  const named = components.completed({
    openapi: '3.1.0',
    info: {
      title: 'Behest',
      version: VERSION,
      description: 'Authorization for AI agents that act on behalf of people.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: PUBLIC_BASE_URL }],
    ...groupedTags(tags),
    paths,
    components: {
      securitySchemes: {
        developer: bearer('A developer API key.'),
        grant: bearer('The grant token of an agent.'),
        session: bearer("A principal's session token."),
        scim: bearer('A SCIM token of an identity provider.'),
        ssf: bearer('An access token of a receiver of signals.'),
        operator: bearer('The `ADMIN_API_KEY` of the operator.'),
        consent: cookie('bh_consent_<request id>'),
        connect: cookie('bh_connect_<session id>'),
        approver: cookie('bh_approve'),
        console: cookie('bh_console'),
      },
    },
  });
  return laidOut(sharedParts(withExamples(named)));
}

/** The tags in the order of their groups; those of a new feature come last. @throws Error where a group has a tag of no feature */
function groupedTags(tags: Readonly<Record<string, string>>) {
  const known = Object.values(TAG_GROUPS).flat();
  const fresh = Object.keys(tags).filter((tag) => !known.includes(tag));
  const groups = fresh.length === 0 ? TAG_GROUPS : { ...TAG_GROUPS, 'Not yet grouped': fresh };
  const described = [...known, ...fresh].map((name) => {
    const description = tags[name];
    if (description === undefined) throw new Error(`TAG_GROUPS names a tag that no feature has: ${name}`);
    return { name, description };
  });
  return { tags: described, 'x-tagGroups': Object.entries(groups).map(([name, of]) => ({ name, tags: of })) };
}

/** The routes that a service of this version mounts. Connects to nothing. */
async function routesOfService(): Promise<RouteOptions[]> {
  const clock = () => new Date();
  const settings = loadConfig({
    NODE_ENV: 'development',
    DATABASE_URL: 'postgres://localhost/unused',
    REDIS_URL: 'memory:',
    AUTO_GENERATE_KEYS: 'true',
    PUBLIC_BASE_URL,
  });
  const db = openDatabase(settings.database.app);
  const keyRing = await createKeyRing(settings.keys, {
    clock,
    startedAt: clock(),
    warn: () => {},
    uses: keyUses,
  });
  const context = openService({ settings, db, store: memoryStore(clock), keyRing, clock });
  const { app, routes } = await watchingRoutes(() => buildApp(context));
  await app.close();
  await db.destroy();
  return routes;
}
