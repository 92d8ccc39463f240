import { nobodys, requestTo, ways } from '../../../apps/server/test/app/every-route.ts';
import { resolved } from './resolve.ts';

interface Schema extends TextSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
}
interface Body {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Described {
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, object>>>>;
type Example = (schema: Schema, type: string) => unknown;

/** Adds an example to each body, and to each good answer that is JSON. */
export function withExamples<Whole extends { readonly paths: Paths; readonly components: object }>(
  whole: Whole,
): Whole {
  // Made by `operationOf`.
  const plain = resolved(whole) as { readonly paths: Readonly<Record<string, Record<string, Described>>> };
  const shared = new SharedExamples();
  const paths = mapped(whole.paths, (verbs, path) =>
    mapped(verbs, (given, verb) => {
      const { requestBody, responses, ...rest } = given as Described;
      const form = plain.paths[path]?.[verb];
      const operation = `${verb.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
      const sent: Example = (schema) => bodyOf(operation, schema);
      const answered: Example = (schema, type) =>
        type === 'application/json'
          ? valueLike(schema, { name: '', id: ways[operation]?.id, isInput: false })
          : undefined;
      return {
        ...rest,
        ...(requestBody && { requestBody: shared.addTo(requestBody, form?.requestBody, sent) }),
        responses: mapped(responses, (body, status) =>
          status < '300' ? shared.addTo(body, form?.responses[status], answered) : body,
        ),
      };
    }),
  );
  return { ...whole, paths, components: { ...whole.components, examples: shared.all() } };
}

function mapped<From, To>(members: Readonly<Record<string, From>>, to: (member: From, name: string) => To) {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, to(member, name)]));
}

/** Examples of named schemas. The first of each name is a component; another one is written where it is used. */
class SharedExamples {
  readonly #values = new Map<string, unknown>();

  addTo(body: Body, resolvedBody: Body | undefined, exampleOf: Example): Body {
    if (!body.content) return body;
    const content = mapped(body.content, (media, type) => {
      const value = exampleOf(resolvedBody?.content?.[type]?.schema ?? {}, type);
      if (value === undefined) return media;
      const name = media.schema.$ref?.split('/').at(-1);
      if (name === undefined) return { ...media, example: value };
      if (!this.#values.has(name)) this.#values.set(name, value);
      if (JSON.stringify(this.#values.get(name)) !== JSON.stringify(value))
        return { ...media, example: value };
      return { ...media, examples: { [name]: { $ref: `#/components/examples/${name}` } } };
    });
    return { ...body, content };
  }

  all(): object {
    const names = [...this.#values.keys()].sort();
    return Object.fromEntries(names.map((name) => [name, { value: this.#values.get(name) }]));
  }
}

/** A body that the tests of the service send, unless it is another one each time. */
function bodyOf(operation: string, schema: Schema): unknown {
  const [first, again] = [1, 2].map(() => requestTo(operation, records).body);
  const isSettled = first !== undefined && JSON.stringify(first) === JSON.stringify(again);
  return isSettled ? first : valueLike(schema, { name: '', id: undefined, isInput: true });
}

interface Place {
  /** Of the member, or of the list that the value is in. */
  readonly name: string;
  /** Names the record whose `id` this is. */
  readonly id: string | undefined;
  readonly isInput: boolean;
}

function valueLike(schema: Schema, place: Place): unknown {
  const { enum: values, anyOf, type, items, minItems = 0, minimum = 0 } = schema;
  if (values) return values[0];
  if (anyOf) return valueLike(anyOf.find((each) => each.type !== 'null') ?? {}, place);
  switch (type) {
    case 'string':
      return exampleText(schema, place.name === 'id' ? (place.id ?? '') : place.name);
    case 'integer':
    case 'number':
      return typeof schema.default === 'number' ? schema.default : Math.max(minimum, 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Math.max(minItems, 1) }, () =>
        valueLike(items ?? {}, { ...place, id: idOfRow(place.name) ?? place.id }),
      );
    case 'object':
      return objectLike(schema, place);
    default:
      return {};
  }
}

/** An answer with all of its members, or a body with those that it needs. */
function objectLike(schema: Schema, place: Place): object {
  const { properties = {}, required = [], minProperties = 0, additionalProperties: others } = schema;
  const names = Object.keys(properties);
  const needed = place.isInput ? names.filter((name) => required.includes(name)) : names;
  const shown = needed.length > 0 ? needed : names.slice(0, minProperties);
  const members = shown.map((name) => [name, valueLike(properties[name] ?? {}, { ...place, name })]);
  if (members.length === 0 && typeof others === 'object')
    members.push([exampleText(schema.propertyNames ?? {}, ''), valueLike(others, place)]);
  return Object.fromEntries(members);
}

/** The record of a row: a row of `agents` is an agent. */
function idOfRow(list: string): string | undefined {
  const id = `${list.replace(/ies$/, 'y').replace(/s$/, '')}Id`;
  return id in records ? id : undefined;
}

/** The samples make another one in each process. */
const PASSKEY_ANSWER = {
  challengeId: 'wac_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  response: {
    id: 'IkmpLFar89ND9PaVg6QH4h5Jglov0JlL92UQ7z-wnbM',
    rawId: 'IkmpLFar89ND9PaVg6QH4h5Jglov0JlL92UQ7z-wnbM',
    type: 'public-key',
    response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0', attestationObject: 'o2NmbXRkbm9uZQ' },
    clientExtensionResults: {},
  },
};

/** The records that examples are about. */
const records: Readonly<Record<string, string>> = {
  ...nobodys,
  callId: 'call-000001',
  caseName: 'refund-1042',
  connector: 'acme_mail',
  passkeyAnswer: JSON.stringify(PASSKEY_ANSWER),
  ruleId: 'many_refunds',
  service: 'github',
};

const TIME = '2026-01-15T09:30:00.000Z';
const LATER = '2026-01-16T09:30:00.000Z';
const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const KEY = 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU'; // RFC 7517, appendix A.1
const JWT = 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl';

/** Texts by the name of their member. A list has one of them. */
const texts: Readonly<Record<string, string>> = {
  ...records,
  action: 'flight.booked',
  accessToken: JWT,
  agentName: 'Travel booker',
  amount: '25.00',
  audience: 'https://mail.acme.example',
  caseId: 'refund-1042',
  clientId: 'https://client.example/metadata.json',
  client_id: 'https://client.example/metadata.json',
  code_challenge_method: 'S256',
  connectors: 'acme_mail',
  currency: 'USD',
  defaultScopes: 'calendar:read',
  description: 'Books travel for its person.',
  displayName: 'Ada Lovelace',
  domain: 'acme.example',
  domains: 'acme.example',
  email: 'ada@acme.example',
  events: 'grant.revoked',
  eventType: 'grant.revoked',
  expiresIn: '30d',
  grantToken: JWT,
  hash: HASH,
  issuer: 'https://auth.example.com',
  iss: 'https://auth.example.com',
  kty: 'EC',
  method: 'GET',
  name: 'Travel booker',
  nextCursor: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0D',
  owner: 'ada@acme.example',
  path: '/v1/messages',
  principalId: 'user_42',
  purpose: 'payments.payout',
  reason: 'The person asked for it.',
  redirectUri: 'https://app.acme.example/callback',
  redirectUris: 'https://app.acme.example/callback',
  redirect_uri: 'https://app.acme.example/callback',
  remaining: '25.00',
  requestId: 'req_7b1c',
  scope: 'calendar:read',
  scopes: 'calendar:read',
  sha256: HASH,
  sub: 'user_42',
  tenantId: 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  developerId: 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  timezone: 'Europe/Berlin',
  token: JWT,
  tool: 'send_mail',
  tools: 'send_mail',
  types: 'grant.revoked',
  version: '1.0.0',
};

/** Texts by the pattern of their schema, for names that say nothing. */
const BY_PATTERN: readonly [includes: string, text: string][] = [
  ['[smhd]', '30d'],
  ['urn:behest:passport', records.passportId ?? ''],
  ['[0-9]{8}', '12345678'],
  ['\\{[a-z]', '{recipient}'],
  ['did:web', 'did:web:auth.example.com'],
  ['[A-Z]{3}', 'USD'],
  ['[A-Z0-9]{2,11}', 'USD'],
  ['_[0-9A-HJKMNP-TV-Z]{26}', '01K9Z3QW5M8T2V4X6Y7Z8A9B0C'],
  ['[0-9a-f]{64}', HASH],
  ['{43}', KEY],
  ['[0-9]{4}-', '2026-01-15'],
  ['^[0-9]', '25.00'],
  ['@', 'ada@acme.example'],
  ['^https', 'https://app.acme.example'],
];

const ENDINGS: readonly [ending: RegExp, text: string][] = [
  [/(At|Until|Since|From|time|until|since)$/, TIME],
  [/(ndpoint|rl|ri|link)s?$/i, 'https://auth.example.com/example'],
  [/(ecret|oken|Key|password|jwt|assertion|signature)$/i, 'example-of-a-secret-0123456789abcdef'],
  [/(hash|digest|thumbprint|challenge|nonce)$/i, KEY],
  [/(Id|_id)$/, 'example_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'],
];

interface TextSchema {
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** A text that has this shape, and the meaning of this name if one is known. */
function exampleText(schema: TextSchema, name: string): string {
  const { format, pattern = '', minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (format === 'date-time') return /expire|until|end|to$/i.test(name) ? LATER : TIME;
  const given = [
    texts[name],
    ...ENDINGS.flatMap(([ending, text]) => (ending.test(name) ? [text] : [])),
    ...BY_PATTERN.flatMap(([part, text]) => {
      const [, prefix = ''] = /^\^([a-z]+_)/.exec(pattern) ?? [];
      return pattern.includes(part) ? [`${prefix}${text}`] : [];
    }),
    'example',
    'Example',
    KEY.slice(0, 22),
    'x'.repeat(Math.min(Math.max(minLength, 1), 400)),
    '/example',
    'https://example.com',
    '1',
    '',
  ];
  const fits = (text: string | undefined): text is string =>
    text !== undefined &&
    text.length >= minLength &&
    text.length <= maxLength &&
    new RegExp(pattern, 'u').test(text);
  const found = given.find(fits);
  if (found === undefined)
    throw new Error(`No text of the examples fits ${name || 'a member'}: ${JSON.stringify(schema)}`);
  return found;
}
