import fc from 'fast-check';
import type { RouteOptions } from 'fastify';
import type { Shape } from '../../src/platform/http/routes/taken-shapes.ts';
import { CONTENT_TYPES, HOSTILE_TEXTS, hostileBody, hostileValue, ODD_HEADERS } from './hostile.ts';
import { Known, objectOf, valueLike } from './values.ts';

/** The credential of a request. The world has one of each for every developer. */
export type Credential =
  | 'good' // the credential that the route demands
  | 'runtime'
  | 'none'
  | 'nonsense'
  | 'expired'
  | 'revoked'
  | 'grantToken'
  | 'twice'
  | 'basic'
  | 'inQuery';

/** A request before the run puts in the ids of known records. */
export interface Draft {
  readonly route: RouteOptions;
  readonly method: string;
  /** The pattern of the path. `params` fill its places. */
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: readonly (readonly [string, unknown])[];
  readonly body?: unknown;
  /** Sent in place of a body. */
  readonly bytes?: Buffer;
  readonly raw?: string;
  readonly contentType: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly credential: Credential;
  /** The developer who sends the request, and the distance to the developer whose records it names. */
  readonly developer: number;
  readonly foreign: number;
  /** The parts that were broken. */
  readonly broken: readonly string[];
}

type Change = (draft: Draft) => Draft;

/** A good request to each route, so that later requests find records. */
export const firstDrafts = (routes: readonly RouteOptions[]): fc.Arbitrary<Draft[]> =>
  fc.tuple(...routes.filter(({ method }) => method === 'POST').map((route) => goodDraft(route)));

/** Requests that make records outnumber those that end them, or soon no record would be left. */
const SHARES: Readonly<Record<string, number>> = { POST: 4, GET: 2 };

/** Requests to these routes. Many are good, and more are broken in one or two ways. */
export function draftsFor(routes: readonly RouteOptions[]): fc.Arbitrary<Draft> {
  const good = fc.oneof(
    ...routes.map((route) => ({ weight: SHARES[String(route.method)] ?? 1, arbitrary: goodDraft(route) })),
  );
  const changes = fc.oneof(
    { weight: 5, arbitrary: fc.constant<Change[]>([]) },
    { weight: 8, arbitrary: fc.tuple(anyChange) },
    { weight: 2, arbitrary: fc.tuple(anyChange, anyChange) },
  );
  return fc
    .tuple(good, changes)
    .map(([draft, all]) => all.reduce((changed, change) => change(changed), draft));
}

function goodDraft(route: RouteOptions): fc.Arbitrary<Draft> {
  const { params = {}, querystring = {}, body } = Object(route.schema) as Record<string, Shape>; // declared
  return fc.record({
    route: fc.constant(route),
    method: fc.constant(String(route.method)),
    path: fc.constant(route.url),
    params: paramsOf(params),
    query: objectOf(querystring).map((fields) => Object.entries(fields)),
    ...(body && { body: objectOf(body) }),
    contentType: fc.constant('application/json'),
    headers: fc.constant([]),
    credential: fc.oneof(
      { weight: 6, arbitrary: fc.constant<Credential>('good') },
      fc.constant<Credential>('runtime'),
    ),
    developer: fc.nat(3),
    foreign: fc.constant(0),
    broken: fc.constant([]),
  });
}

const paramsOf = ({ properties = {} }: Shape) =>
  fc.record(
    Object.fromEntries(
      Object.entries(properties).map(([name, each]) =>
        name === 'id'
          ? [name, fc.nat(7).map((pick) => new Known('id', pick))]
          : [name, valueLike(each, name)],
      ),
    ),
  );

/** Notes the broken part, for the report. */
const breaking = (what: string, change: (draft: Draft) => Partial<Draft>): Change => {
  return (draft) => ({ ...draft, ...change(draft), broken: [...draft.broken, what] });
};

const field = fc
  .tuple(fc.nat(20), hostileValue)
  .map(([at, value]) => breaking('a field', (draft) => ({ body: withFieldAt(draft.body, at, value) })));
const noField = fc.nat(20).map((at) =>
  breaking('a field less', (draft) => {
    const names = Object.keys(Object(draft.body));
    const lost = names[at % names.length];
    return { body: Object.fromEntries(Object.entries(Object(draft.body)).filter(([name]) => name !== lost)) };
  }),
);
/** Names that no route has, and names that every object has. */
const UNKNOWN_FIELDS = [
  'isAdmin',
  'developerId',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'x'.repeat(300),
  '',
];
export const UNKNOWN_FIELD = 'an unknown field';
const unknownField = fc.tuple(fc.constantFrom(...UNKNOWN_FIELDS), hostileValue).map(([name, value]) =>
  breaking(UNKNOWN_FIELD, ({ body }) => ({
    body: Object.fromEntries([...Object.entries(Object(body)), [name, value]]),
  })),
);
const bytes = hostileBody.map((text) => breaking('the body', () => ({ bytes: text })));
const contentType = fc
  .constantFrom(...CONTENT_TYPES)
  .map((type) => breaking('the content type', () => ({ contentType: type })));
const header = fc
  .array(fc.constantFrom(...ODD_HEADERS), { minLength: 1, maxLength: 3 })
  .map((odd) => breaking('the headers', ({ headers }) => ({ headers: [...headers, ...odd] })));
const manyHeaders = fc.integer({ min: 90, max: 400 }).map((count) =>
  breaking('too many headers', ({ headers }) => ({
    headers: [...headers, ...Array.from({ length: count }, (_, at) => [`x-${at}`, 'y'] as const)],
  })),
);
const method = fc
  .constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY')
  .map((other) => breaking('the method', () => ({ method: other })));
const param = fc.constantFrom(...HOSTILE_TEXTS).map((text) =>
  breaking('an id', ({ params }) => ({
    params: Object.fromEntries(Object.keys(params).map((name) => [name, text])),
  })),
);
const path = fc
  .constantFrom<(path: string) => string>(
    (given) => `${given}/`,
    (given) => `/${given}`,
    (given) => given.replaceAll('/', '//'),
    (given) => given.toUpperCase(),
    (given) => given.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    (given) => `${given}%00`,
    (given) => `${given}%ff`,
    (given) => `${given}%`,
    (given) => `${given};x=1`,
    (given) => `${given}#fragment`,
    (given) => `${given}/../me`,
    (given) => `${given}/${'x'.repeat(3_000)}`,
    (given) => `${given}?`,
    (given) => `${given}\u00e9`,
    () => '*',
    () => '/',
    (given) => `http://evil.test${given}`,
  )
  .map((change) => breaking('the path', (draft) => ({ path: change(draft.path) })));
const query = fc
  .tuple(fc.nat(20), fc.oneof(hostileValue, fc.constantFrom('limit', 'cursor', 'since')), fc.nat(3))
  .map(([at, value, how]) =>
    breaking('the query', (draft) => {
      const { properties = {} } = Object(Object(draft.route.schema).querystring) as Shape; // declared
      const names = [...Object.keys(properties), 'unknown', '__proto__', 'limit'];
      const name = names[at % names.length] ?? '';
      const added = [[name, value] as const, ...(how === 0 ? [[name, value] as const] : [])];
      return { query: [...draft.query, ...(how === 1 ? [[`${name}[]`, value] as const] : added)] };
    }),
  );
const credential = fc
  .constantFrom<Credential>(
    'runtime',
    'none',
    'nonsense',
    'expired',
    'revoked',
    'grantToken',
    'twice',
    'basic',
    'inQuery',
  )
  .map((other) => breaking(`the credential: ${other}`, () => ({ credential: other })));
const foreign = fc
  .integer({ min: 1, max: 3 })
  .map((further) => breaking('the owner', () => ({ foreign: further })));

/** Bytes that are not quite HTTP. The path replaces `{}`. */
const RAW = [
  'GET {} HTTP/1.1\r\nConnection: close\r\n\r\n',
  'GET {} HTTP/1.0\r\n\r\n',
  'GET {} HTTP/2.0\r\nHost: a\r\n\r\n',
  'GET {} HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
  'GET {} HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n',
  'GET {} HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n',
  'GET {} HTTP/1.1\r\nHost: a\r\nX: a\r\n folded\r\nConnection: close\r\n\r\n',
  'GET {} HTTP/1.1\nHost: a\nConnection: close\n\n',
  'GET  {} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'GET {}\r\n\r\n',
  'GET / x HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST {} HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
  'POST {} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
  'POST {} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST {} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, x\r\n\r\n',
  'POST {} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nz\r\n\r\n',
  `GET {} HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`,
  `GET {}${'z'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'get {} http/1.1\r\nhost: a\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  '\0\0\0\0\r\n\r\n',
  'nonsense\r\n\r\n',
];
const raw = fc.constantFrom(...RAW).map((text) => breaking('the protocol', () => ({ raw: text })));

const anyChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 12, arbitrary: field },
  { weight: 4, arbitrary: noField },
  { weight: 4, arbitrary: unknownField },
  { weight: 5, arbitrary: bytes },
  { weight: 4, arbitrary: contentType },
  { weight: 4, arbitrary: header },
  { weight: 1, arbitrary: manyHeaders },
  { weight: 3, arbitrary: method },
  { weight: 4, arbitrary: param },
  { weight: 4, arbitrary: path },
  { weight: 6, arbitrary: query },
  { weight: 6, arbitrary: credential },
  { weight: 4, arbitrary: foreign },
  { weight: 1, arbitrary: raw },
);

/** Replaces one field of a body, at any depth. */
function withFieldAt(body: unknown, at: number, value: unknown): unknown {
  if (typeof body !== 'object' || body === null || body instanceof Known) return value;
  const entries = Object.entries(body);
  if (entries.length === 0) return Array.isArray(body) ? [value] : { name: value };
  const chosen = at % entries.length;
  const further = Math.floor(at / entries.length);
  const changed = entries.map(([name, each], index) => {
    if (index !== chosen) return [name, each] as const;
    return [name, further > 0 ? withFieldAt(each, further - 1, value) : value] as const;
  });
  return Array.isArray(body) ? changed.map(([, each]) => each) : Object.fromEntries(changed);
}
