import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { parseJson } from '@behest/protocol/json';
import fc from 'fast-check';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { Value } from 'typebox/value';
import { beforeAll, expect, test } from 'vitest';
import { unavailable } from '../../src/platform/errors.ts';
import type { Shape } from '../../src/platform/http/routes/taken-shapes.ts';
import { enrolApprover } from '../app/approving.ts';
import { askToConnect, browserOf } from '../app/connecting.ts';
import { memberOf } from '../app/console.ts';
import { operationOf, possessionsOf } from '../app/every-route.ts';
import { authorize, registerAgent } from '../app/flow.ts';
import { personOn } from '../app/person.ts';
import { ADMIN_API_KEY, type Method, type Service, startApp } from '../app/start-app.ts';
import { demandedBy, Known, valueLike } from '../fuzz/values.ts';

/** An object somewhere in a value that a schema accepts. */
interface Found {
  /** The whole value. */
  readonly value: unknown;
  /** The path of the object in the value. */
  readonly path: readonly string[];
  readonly shape: Shape;
}

const TRIES = 50; // tries of 20 values, most of which have the right shape

/** A value that the schema accepts. It is the same at each call. */
function exampleOf(schema: Shape): unknown {
  const asSent = { ...schema, ...(schema.required && { required: demandedBy(schema) }) };
  for (let seed = 1; seed <= TRIES; seed += 1) {
    const made = fc.sample(valueLike(schema), { numRuns: 20, seed }).map(withoutKnown);
    const good = made.findIndex((value) => Value.Check(asSent, value) && isSendable(value));
    if (good >= 0) return made[good];
  }
  throw new Error(`The generator makes no value of ${JSON.stringify(schema)}.`);
}

/** Some of the fuzzer's texts are valid in no JSON. */
function isSendable(value: unknown): boolean {
  try {
    parseJson(Buffer.from(JSON.stringify(value)));
    return true;
  } catch {
    return false;
  }
}

function withoutKnown(value: unknown): unknown {
  if (value instanceof Known) return '01K9Z3QW5M8T2V4X6Y7Z8A9B0C';
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutKnown);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutKnown(each)]));
}

/** Every object that the schema describes, each in a whole value. */
function objectsIn(schema: Shape): Found[] {
  const { type, anyOf, items = {}, properties = {}, additionalProperties: others } = schema;
  if (anyOf) return anyOf.flatMap(objectsIn);
  if (type === 'array') {
    return objectsIn(items).map((found) => ({
      ...found,
      value: Array(Math.max(1, schema.minItems ?? 1)).fill(found.value),
      path: ['0', ...found.path],
    }));
  }
  if (type !== 'object') return [];
  const own = exampleOf(schema);
  const members: [name: string, shape: Shape][] = Object.entries(properties);
  if (typeof others === 'object') members.push([String(exampleOf(schema.propertyNames ?? {})), others]);
  const within = members.flatMap(([name, shape]) =>
    objectsIn(shape).map((found) => ({
      ...found,
      value: { ...Object(own), [name]: found.value },
      path: [name, ...found.path],
    })),
  );
  return [{ value: own, path: [], shape: schema }, ...within];
}

const NAMES = ['isAdmin', '__proto__'];
const ODD_NAMES = ['', ' ', 'é', 'x'.repeat(2_000)];

/** Members that an object of this shape does not have, and the words of their refusal. */
function strangersTo({ additionalProperties: others, propertyNames }: Shape) {
  if (others === false) return NAMES.map((name) => ({ name, value: 1, problem: /^unknown$/ }));
  if (typeof others !== 'object' || !propertyNames) return [];
  const odd = ODD_NAMES.filter((name) => !Value.Check(propertyNames, name));
  return odd.map((name) => ({ name, value: exampleOf(others), problem: /^(format|too_short|too_long)$/ }));
}

/** The whole value with an extra member in that object. */
function withMember({ value, path }: Pick<Found, 'value' | 'path'>, name: string, member: unknown): unknown {
  const [first, ...rest] = path;
  const entries = Object.entries(Object(value)).map(([key, each]) =>
    key === first ? [key, withMember({ value: each, path: rest }, name, member)] : [key, each],
  );
  if (Array.isArray(value)) return entries.map(([, each]) => each);
  return Object.fromEntries(first === undefined ? [...entries, [name, member]] : entries);
}

const STOP = 'x-stop-at-handler';
const REACHED = 503; // which every route declares

let service: Service;
let headersFor: (route: RouteOptions) => Record<string, string>;
let idFor: (route: RouteOptions) => string;
beforeAll(async () => {
  service = await startingWith(stopAtHandlers);
  ({ headersFor, idFor } = await credentialsOf(service));
  return service.stop;
});

/** Fastify announces each app before anything is added to it. */
async function startingWith(change: (message: unknown) => void): Promise<Service> {
  subscribe('fastify.initialization', change);
  return startApp({ isShared: true, isNew: true }).finally(() =>
    unsubscribe('fastify.initialization', change),
  );
}

const KID = `service-es256-${'A'.repeat(43)}`;

/** A request with this header takes the whole path up to its handler, so nothing it names has to exist. */
function stopAtHandlers(message: unknown): void {
  const { fastify } = message as { fastify: FastifyInstance }; // the message of this channel
  fastify.addHook('preHandler', async ({ headers }) => {
    if (headers[STOP]) throw unavailable('db');
  });
}

/** A developer, a principal with a session, and a person with an open consent page. */
async function credentialsOf(service: Service) {
  const sandbox = await service.asDeveloper({ mode: 'sandbox' });
  const { sessionToken, grantToken, scimToken, ssfToken } = await possessionsOf(sandbox);
  const developer = await service.asDeveloper();
  const { agentId } = await registerAgent(developer);
  const { id, consentUrl } = await authorize(developer, agentId);
  const person = personOn(service);
  const { csrfToken } = (await person.open(consentUrl)).json();
  const page = {
    origin: service.settings.http.publicBaseUrl,
    'sec-fetch-site': 'same-origin',
    cookie: [...person.cookies].map((pair) => pair.join('=')).join('; '),
    'x-csrf-token': String(csrfToken),
  };
  const asked = await askToConnect(sandbox);
  const connecting = browserOf(service);
  const opened = (await connecting.open(asked)).json();
  const connectPage = {
    ...page,
    cookie: [...connecting.cookies].map((pair) => pair.join('=')).join('; '),
    'x-csrf-token': String(opened.csrfToken),
  };
  const { browser: approving } = await enrolApprover(service, sandbox, 'approver@example.org');
  const member = await memberOf(service, sandbox);
  const headersFor = ({ config }: RouteOptions): Record<string, string> => {
    if (config?.access === 'developer') return { authorization: `Bearer ${developer.apiKey}` };
    if (config?.access === 'session') return { authorization: `Bearer ${sessionToken}` };
    if (config?.access === 'scim') return { authorization: `Bearer ${scimToken}` };
    if (config?.access === 'ssf') return { authorization: `Bearer ${ssfToken}` };
    if (config?.access === 'operator') return { authorization: `Bearer ${ADMIN_API_KEY}` };
    if (config?.access === 'grant') return { authorization: `Bearer ${grantToken}` };
    if (config?.access === 'approver') return approving.headers();
    if (config?.access === 'console') return member.headers();
    return config?.access === 'connect' ? connectPage : page;
  };
  const idFor = ({ config }: RouteOptions) => (config?.access === 'connect' ? asked.id : String(id));
  return { headersFor, idFor };
}

async function send(route: RouteOptions, { body, query }: { body?: unknown; query?: URLSearchParams }) {
  const answer = await service.app.inject({
    method: String(route.method) as Method, // one of those that routes have
    url: `${route.url.replace(':id', idFor(route)).replace(':kid', KID).replaceAll(/:\w+/g, 'x')}?${query ?? ''}`,
    headers: {
      ...headersFor(route),
      [STOP]: '1',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  });
  return { status: answer.statusCode, fields: answer.json().details?.fields };
}

const bodyOf = ({ schema }: RouteOptions) => schema?.body as Shape | undefined;
const queryOf = ({ schema }: RouteOptions) => schema?.querystring as Shape | undefined;
/** RFC 7591 §2: a member that the server does not know is left out. */
const isOfRegistration = (url: string) => url.startsWith('/oauth/register');
const placeOf = (route: RouteOptions, { path }: Found) => [operationOf(route), ...path].join(' ');

test('T5: a member that a body does not declare is refused and named, at every depth of every body', async () => {
  const looked: string[] = [];
  const routes = service.routes.filter(
    ({ config, url }) => !config?.takesSet && config?.takesForm !== 'only' && !isOfRegistration(url),
  ); // one token, which has no members
  for (const route of routes) {
    for (const found of objectsIn(bodyOf(route) ?? {})) {
      const place = placeOf(route, found);
      const control = await send(route, { body: found.value });
      expect(control, place).toEqual({ status: REACHED, fields: undefined });

      for (const { name, value, problem } of strangersTo(found.shape)) {
        const refused = await send(route, { body: withMember(found, name, value) });
        const path = [...found.path, name].join('.');
        const named = { path, problem: expect.stringMatching(problem) };
        expect(refused, place).toEqual({ status: 400, fields: expect.arrayContaining([named]) });
        looked.push(place);
      }
    }
  }

  const bodies = routes.filter((route) => bodyOf(route)?.additionalProperties === false);
  expect(looked).toEqual(expect.arrayContaining(bodies.map(operationOf)));
  expect(looked).toEqual(
    expect.arrayContaining([
      'POST /v1/agents publicKeyJwk',
      'PATCH /v1/me consentKeys 0',
      'PATCH /v1/me scopeDescriptions',
      `POST /v1/consent/:id/approve tools`,
    ]),
  );
});

test('an undeclared member of a query is refused and named to programs, and ignored elsewhere; a NUL is refused', async () => {
  const ofPrograms = ['developer', 'grant', 'operator'];
  const routes = service.routes.filter(
    (route) => queryOf(route) && !route.config?.isLive && !route.config?.takesSet,
  );
  for (const route of routes) {
    const known = Object.entries(Object(exampleOf(queryOf(route) ?? {})));
    const sent = bodyOf(route);
    const body = sent && { body: exampleOf(sent) };
    const query = new URLSearchParams(known.map(([name, value]): [string, string] => [name, String(value)]));
    expect(await send(route, { query, ...body }), operationOf(route)).toMatchObject({ status: REACHED });

    query.set('isAdmin', '1');
    const refused = { status: 400, fields: [{ path: 'isAdmin', problem: 'unknown' }] };
    const { access, errors, keepsTail } = route.config ?? {};
    const isOfProgram = ofPrograms.includes(String(access)) && errors === undefined && !keepsTail;
    expect(await send(route, { query, ...body }), operationOf(route)).toMatchObject(
      isOfProgram ? refused : { status: REACHED },
    );
    for (const name of Object.keys(queryOf(route)?.properties ?? {})) {
      const { status, fields } = await send(route, {
        query: new URLSearchParams({ [name]: 'a\0' }),
        ...body,
      });
      expect(status, `${operationOf(route)} ${name}`).toBe(400);
      if (route.config?.errors === 'scim') continue; // its errors name no fields
      expect(fields, `${operationOf(route)} ${name}`).toContainEqual({ path: name, problem: 'format' });
    }
  }
  expect(routes.length).toBeGreaterThan(5);
});
