import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDescription } from '../generate/description/resolve.ts';
import type { SentRequest } from './client.ts';

const API = readDescription(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8'));
const LARGEST = { withKey: 1_048_576, withoutKey: 65_536 };
const LONGEST_TEXT = 4_096; // where a schema names no length
const MAX_ITEMS = 1_000;
const LONGEST_QUERY = 8_000;

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
}

interface Described {
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** A request of its largest size, and what it is called in the results. */
export interface Largest {
  readonly name: string;
  readonly request: SentRequest;
}

/** The largest request of each route, with every key of one account that a schema of security names. */
export function largestRequests(keys: Readonly<Record<string, string>>): Largest[] {
  return Object.entries(API.paths).flatMap(([path, operations]) =>
    Object.entries(Object(operations)).map(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      return { name, request: requestOf(method.toUpperCase(), path, Object(operation), keys) };
    }),
  );
}

function requestOf(
  method: string,
  path: string,
  { security = [], parameters = [], requestBody }: Described,
  keys: Readonly<Record<string, string>>,
): SentRequest {
  const apiKey = security.flatMap((way) => Object.keys(way).map((name) => keys[name])).find(Boolean);
  const query = new URLSearchParams();
  for (const each of parameters.filter(({ in: place }) => place === 'query')) {
    const text = String(filled(each.schema, 1)).slice(0, LONGEST_QUERY / 2);
    if (`${query}`.length + text.length < LONGEST_QUERY) query.set(each.name, text);
  }
  const asked = `${path.replace(/\{\w+\}/g, 'x')}${query.size > 0 ? `?${query}` : ''}`;
  const [type = '', content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const most = apiKey === undefined ? LARGEST.withoutKey : LARGEST.withKey;
  const body = content && withinBytes(content.schema, most);
  return {
    ...{ method, path: asked },
    ...(apiKey !== undefined && { apiKey }),
    ...(body !== undefined && (type.includes('form') ? { form: textsOf(body) } : { body: Object(body) })),
  };
}

/** The largest value of a schema within a limit: the same part of every text and list, so that all of them are long. */
function withinBytes(schema: Schema, most: number): unknown {
  for (let share = 1; share > 0.0005; share *= 0.7) {
    const value = filled(schema, share);
    if (JSON.stringify(value ?? null).length <= most) return value;
  }
  return filled(schema, 0);
}

const textsOf = (body: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(Object(body)).map(([name, value]) => [name, String(value)]));

function filled(schema: Schema, share: number, depth = 0): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum.at(0);
  const [one] = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
    .map((each) => filled(each, share, depth))
    .sort(bySize);
  if (one !== undefined) return one;
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((each) => filled(each, share, depth)));
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  const many = (most: number | undefined) => Math.max(1, Math.floor((most ?? MAX_ITEMS) * share));
  if (type === 'array' && schema.items) {
    const { items } = schema;
    return Array.from({ length: many(schema.maxItems) }, (_, at) =>
      differing(filled(items, share, depth + 1), at),
    );
  }
  if (type === 'object' || schema.properties) {
    const own = Object.entries(schema.properties ?? {}).map(([name, each]) => [
      name,
      filled(each, share, depth + 1),
    ]);
    const open = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties;
    const others =
      typeof open === 'object'
        ? Array.from({ length: many(schema.maxProperties ?? 100) }, (_, at) => [
            `m${at}`,
            filled(open, share, depth + 1),
          ])
        : [];
    return Object.fromEntries([...own, ...others]);
  }
  if (type === 'integer' || type === 'number') return schema.maximum ?? 100;
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  if (type === 'string') return textOf(schema, many(schema.maxLength ?? LONGEST_TEXT));
  return depth > 2 ? 'x' : { any: Array.from({ length: many(undefined) }, (_, at) => ({ [`m${at}`]: at })) };
}

const bySize = (one: unknown, other: unknown) =>
  JSON.stringify(other ?? null).length - JSON.stringify(one ?? null).length;

/** Elements of a list that has to have different ones. */
const differing = (value: unknown, at: number) =>
  typeof value === 'string' && value.length > 6
    ? `${value.slice(0, -5)}${String(at).padStart(5, '0')}`
    : value;

const SAMPLES = [
  'read:all',
  'a',
  'A',
  '1',
  'user@example.org',
  'https://example.org/',
  '2026-01-01T00:00:00Z',
  'EUR',
  '30d',
];

function textOf({ pattern, format }: Schema, length: number): string {
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  const long = ['a', '1', 'A'].map((sign) => sign.repeat(length));
  if (pattern === undefined) return long[0] ?? '';
  const form = new RegExp(pattern, 'u');
  return [...long, ...SAMPLES].find((text) => form.test(text)) ?? 'a'.repeat(Math.min(length, 64));
}

const many = <Made>(count: number, make: (at: number) => Made): Made[] =>
  Array.from({ length: count }, (_, at) => make(at));

interface Account {
  readonly apiKey: string;
  readonly scim: string;
  /** The session of an open setup link. */
  readonly setup: string;
  readonly groupId: string;
  readonly connectionId: string;
  readonly grantToken: string;
  readonly agentId: string;
}

/** Requests whose parts are each within their limit, and multiply. */
export function handMade({
  apiKey,
  scim,
  setup,
  groupId,
  connectionId,
  grantToken,
  agentId,
}: Account): Largest[] {
  const filter = many(50, (at) => `value eq "nobody ${at}"`).join(' or ');
  const members = (from: number, count: number) => many(count, (at) => ({ value: `nobody-${from + at}` }));
  const patch = (...operations: object[]) => ({
    method: 'PATCH',
    path: `/scim/v2/Groups/${groupId}`,
    apiKey: scim,
    body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations },
  });
  const add = { op: 'add', path: 'members', value: members(0, 9_000) };
  const post = (path: string, body: object, key?: string) => ({
    method: 'POST',
    path,
    body,
    ...(key !== undefined && { apiKey: key }),
  });
  const scope = (at: number) => `area${at}:read`;
  const evaluation = (at: number) => ({
    action: { name: 'call' },
    resource: { type: 'tool', id: `crm:${at}` },
  });
  return [
    {
      name: 'Setup: metadata of 60,000 characters of `<!--`',
      request: post('/setup/provider', { session: setup, metadata: '<!--'.repeat(15_000) }),
    },
    {
      name: 'Setup: metadata of 5,000 elements within each other',
      request: post('/setup/provider', {
        session: setup,
        metadata: `${'<a b="c">'.repeat(49)}${'<X509Certificate>a</X509Certificate>'.repeat(1_500)}`,
      }),
    },
    { name: 'SCIM: a group with 9,000 members', request: patch(add) },
    {
      name: 'SCIM: 9,000 members, and 99 removals by 50 terms',
      request: patch(add, ...many(99, () => ({ op: 'remove', path: `members[${filter}]` }))),
    },
    {
      name: 'SCIM: 9,000 members, and 99 more of one',
      request: patch(
        add,
        ...many(99, (at) => ({ op: 'add', path: 'members', value: members(10_000 + at, 1) })),
      ),
    },
    {
      name: 'SCIM: a search by 50 terms',
      request: {
        method: 'GET',
        path: `/scim/v2/Users?filter=${encodeURIComponent(many(50, (at) => `userName eq "u${at}"`).join(' or '))}`,
        apiKey: scim,
      },
    },
    {
      name: 'SSO: 500 groups of 100 scopes',
      request: {
        method: 'PATCH',
        path: `/v1/sso/connections/${connectionId}`,
        apiKey,
        body: {
          groupMappings: Object.fromEntries(
            many(500, (group) => [`g${group}`, many(100, (at) => scope(group * 100 + at))]),
          ),
        },
      },
    },
    {
      name: 'Enforcement: arguments of 60 KB, 30 levels',
      request: post(
        '/v1/enforce',
        {
          grantToken,
          connector: 'crm',
          tool: 'lookup',
          arguments: {
            list: many(6_000, (at) => at),
            deep: JSON.parse(`${'{"a":'.repeat(29)}1${'}'.repeat(29)}`),
          },
        },
        apiKey,
      ),
    },
    {
      name: 'Enforcement: arguments of 10,000 numbers',
      request: post(
        '/v1/enforce',
        { grantToken, connector: 'crm', tool: 'lookup', arguments: { list: many(10_000, () => 0.5) } },
        apiKey,
      ),
    },
    {
      name: 'AuthZEN: 50 evaluations with contexts',
      request: post(
        '/access/v1/evaluations',
        {
          subject: { type: 'agent', id: agentId },
          context: { text: 'x'.repeat(10_000) },
          evaluations: many(50, evaluation),
        },
        apiKey,
      ),
    },
    {
      name: 'Manifest: 500 tools with rules',
      request: {
        method: 'PUT',
        path: '/v1/manifests/large',
        apiKey,
        body: {
          $schema: 'urn:service:manifest:0.6',
          connector: 'large',
          tools: Object.fromEntries(
            many(500, (at) => [`tool_${at}`, { permission: 'read', description: 'd'.repeat(1_000) }]),
          ),
        },
      },
    },
    {
      name: 'Authorization: 100 scopes',
      request: post(
        '/v1/authorize',
        { agentId, principalId: 'user_42', scopes: many(100, scope), expiresIn: '30d' },
        apiKey,
      ),
    },
    {
      name: 'Verification: 100 scopes',
      request: post('/v1/tokens/verify', { token: grantToken, requiredScopes: many(100, scope) }, apiKey),
    },
    {
      name: 'Vault: a body of 1 MB in one text',
      request: post(
        '/v1/audit/log',
        { agentId, action: 'x', metadata: { text: '"'.repeat(400_000) } },
        apiKey,
      ),
    },
  ];
}
