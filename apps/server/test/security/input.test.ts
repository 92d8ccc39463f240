import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RouteOptions } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { operationOf, type Possessions, possessionsOf, requestTo } from '../app/every-route.ts';
import { refusalOf } from '../app/flow.ts';
import { type Developer, type Method, type Service, startApp } from '../app/start-app.ts';

let service: Service;
let acme: Developer;
let its: Possessions;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  acme = await service.asDeveloper({ mode: 'sandbox' });
  its = await possessionsOf(acme);
  return service.stop;
});

/** Texts that have been the end of other services. */
const hostile = [
  "' OR 1=1--",
  "'; drop table agents;--",
  '$1',
  '%',
  '_',
  '\\',
  '\0',
  'a\0b',
  '\ud800',
  '\r\nset-cookie: a=b',
  '\u202e',
  '__proto__',
  'constructor.prototype',
  '../../etc/passwd',
  '{{7*7}}',
  '<script>',
  'NaN',
  '1e400',
  '0x10',
  '-1',
  '99999999999999999999',
  '2026-02-30T00:00:00Z',
  '2026-01-01T00:00:60Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999999Z',
  'x'.repeat(100_000),
  `${'a'.repeat(50_000)}!`,
  `${'a:'.repeat(50_000)}!`,
  '',
];
/** A few, since the fuzzer has lists of all kinds. */
const hostileInLists = hostile.filter((_, at) => at % 5 === 0).map((text) => [text]);
/** Values that are no text, for fields that expect text, and the like. */
const misshapen = [null, 5, -1, 1e308, 0.5, true, [], [null], [[]], {}, { a: 1 }, ['x', 5], { __proto__: 1 }];

const isText = (value: unknown) => typeof value === 'string';
const membersOf = (schema: unknown): string[] => Object.keys(Object(schema).properties ?? {});
/** The members without which a query is refused before its path is looked at. */
function queryNeededBy(route: RouteOptions | undefined): string {
  const { required = [], properties = {} } = Object(route?.schema?.querystring);
  const needed: string[] = required.filter((name: string) => properties[name].default === undefined);
  return needed.length === 0 ? '' : `?${needed.map((name) => `${name}=user_42`).join('&')}`;
}

/** From the API description, since the tests are named before a service runs. */
function operationsOfDevelopers(): string[] {
  const { paths } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../openapi.json'), 'utf8'));
  return Object.entries<Record<string, { security?: object[] }>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security = [] }]) => security.some((scheme) => 'developer' in scheme))
      .map(([method]) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  );
}

const isDevelopers = ({ config }: RouteOptions) => config?.access === 'developer';

/** No request makes the service fail, or reveals its insides. */
function expectUnharmed(answer: { statusCode: number; body: string }, asked: unknown) {
  const isOff = answer.statusCode === 503 && answer.body.includes('"NOT_CONFIGURED"');
  if (!isOff) expect(answer.statusCode, JSON.stringify(asked)?.slice(0, 300)).toBeLessThan(500);
  expect(answer.body).not.toMatch(/select |insert |node_modules|\.ts:|\bpg_|syntax error|at \w+ \(/);
}

describe('I1, I2, I4, I7: nothing sent makes the service fail', () => {
  const operations = [...operationsOfDevelopers(), 'POST /v1/signup'].sort();

  test('through the routes that take an API key, all of them', () => {
    const known = service.routes.filter(isDevelopers).map(operationOf).sort();

    expect(operations.filter((operation) => operation !== 'POST /v1/signup')).toEqual(known);
  });

  test.each(operations)(
    'in a field, parameter or path of %s',
    async (operation) => {
      const route = service.routes.find((each) => operationOf(each) === operation);
      const { method, url, body } = requestTo(operation, its);
      const rotates = operation === 'POST /v1/keys/rotate'; // each good one would end the key

      for (const name of membersOf(route?.schema?.body)) {
        const values = [...hostile, ...misshapen, ...hostileInLists];
        for (const value of rotates ? values.filter((each) => each !== 0.5) : values) {
          const developer = rotates ? await service.asDeveloper() : acme;
          const answer = await developer(method, url, { ...body, [name]: value });
          expectUnharmed(answer, { operation, name, value });
          const isLong = isText(value) && String(value).length > 20;
          if (isLong && answer.statusCode === 400 && answer.json().code === 'BAD_REQUEST') {
            expect(answer.body).not.toContain(String(value));
          }
        }
      }
      for (const name of membersOf(route?.schema?.querystring)) {
        for (const value of hostile.filter((text) => text.length < 60_000 && text.isWellFormed())) {
          const answer = await acme(method, `${url}?${name}=${encodeURIComponent(value)}`);
          expectUnharmed(answer, { operation, name, value });
        }
        for (const raw of ['%', '%ff', '%00', '%ed%a0%80', `a&${name}=b`, '[]=1']) {
          expectUnharmed(await acme(method, `${url}?${name}=${raw}`), { operation, name, raw });
        }
      }
      if (!operation.includes(':id')) return;
      for (const text of [...hostile, '..', '.', '%2e%2e', '*']) {
        if (!text.isWellFormed() || text === '' || text.startsWith('.')) continue;
        const path = operation.split(' ')[1]?.replace(':id', encodeURIComponent(text).slice(0, 8000)) ?? '';
        const answer = await acme(method, path + queryNeededBy(route), body);
        expect([operation, text.slice(0, 50), answer.statusCode]).toEqual([
          operation,
          text.slice(0, 50),
          404,
        ]);
      }
    },
    60_000,
  );

  test('and a stored value comes back as it was', async () => {
    const kept = hostile.filter(
      (text) =>
        text.isWellFormed() &&
        text !== '' &&
        text.length < 200 &&
        !['\0', '\r', '\u202e'].some((unfit) => text.includes(unfit)),
    );
    for (const text of kept) {
      const made = await acme('POST', '/v1/agents', { name: text, description: text });
      expect([made.statusCode, made.json().name]).toEqual([201, text.trim()]);
    }
    expect(kept.length).toBeGreaterThan(10);
  });
});

describe('I8: a page', () => {
  const lists = ['/v1/agents', '/v1/keys', '/v1/grants', '/v1/audit/entries', '/v1/events'];

  test.each([
    '0',
    '-1',
    '501',
    '1e9',
    '1e1',
    '0x10',
    '1.5',
    ' 5',
    '5 ',
    '+5',
    '05',
    'abc',
    '',
    'NaN',
    '1&limit=2',
  ])('with limit=%s is refused', async (limit) => {
    for (const list of lists) {
      const refused = await acme(
        'GET',
        `${list}?limit=${limit.includes('&') ? limit : encodeURIComponent(limit)}`,
      );
      expect([list, refused.statusCode]).toEqual([list, 400]);
      expect(refused.json().details.fields).toEqual([{ path: 'limit', problem: expect.any(String) }]);
    }
  });

  test.each(['1', '500'])('with limit=%s is answered', async (limit) => {
    for (const list of lists) expect((await acme('GET', `${list}?limit=${limit}`)).statusCode).toBe(200);
  });

  test.each([
    'x',
    '0x1',
    '-1',
    'ag_',
    'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    "' or 1=1",
    '%00',
    'x'.repeat(600),
    '1e3',
  ])('after the cursor %s is refused', async (cursor) => {
    for (const list of lists) {
      expect((await acme('GET', `${list}?cursor=${cursor}`)).statusCode).toBe(400);
    }
  });

  test('with a parameter that no route knows is refused by its name, and pollutes nothing', async () => {
    const refused = await acme('GET', '/v1/agents?unknown=1&__proto__=2');
    expect(refusalOf(refused)).toBe('400 BAD_REQUEST');
    expect(refused.json().details.fields).toEqual(
      ['unknown', '__proto__'].map((path) => ({ path, problem: 'unknown' })),
    );
    expect(Object({})).not.toHaveProperty('polluted');
  });
});

test('T6: names of prototypes are plain data where anything may be', async () => {
  const { agentId, did, grantId } = its;
  const about = { agentId, agentDid: did, grantId, principalId: 'user_42', action: 'flight.booked' };
  const metadata =
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1}';
  const payload = `${JSON.stringify(about).slice(0, -1)},"metadata":${metadata}}`;
  const headers = { authorization: `Bearer ${acme.apiKey}`, 'content-type': 'application/json' };

  const appended = await service.app.inject({ method: 'POST', url: '/v1/audit/log', headers, payload });
  const read = await acme('GET', `/v1/audit/${appended.json().entryId}`);

  expect(appended.statusCode).toBe(201);
  expect(Object({})).not.toHaveProperty('polluted');
  for (const { body } of [appended, read]) {
    for (const member of ['"__proto__":{"polluted":true}', '"constructor":', '"toString":1'])
      expect(body).toContain(member);
  }
  expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
});

test('I3: a body at every limit is answered in time', async () => {
  const headers = { authorization: `Bearer ${acme.apiKey}`, 'content-type': 'application/json' };
  const inject = (payload: string, method: Method = 'POST') =>
    service.app.inject({ method, url: '/v1/agents', headers, payload });
  const worst = [
    '['.repeat(1_000_000),
    `${'{"a":'.repeat(200_000)}`,
    `"${'\\u0061'.repeat(170_000)}"`,
    `{${Array.from({ length: 80_000 }, (_, at) => `"a${at}":1`).join()}}`,
    `[${'1'.repeat(1_000_000)}]`,
    `{"name":"${' '.repeat(1_000_000)}"}`,
    `{"name":"a","scopes":[${'"a:b",'.repeat(100_000)}"a:b"]}`,
    `{"name":"a","${'\\u0061'.repeat(160_000)}":1}`,
  ];
  for (const payload of worst) {
    const before = process.threadCpuUsage();
    expect((await inject(payload)).statusCode).toBe(400);
    const { user, system } = process.threadCpuUsage(before); // microseconds
    // 200 ms are allowed; a machine whose caches others use gets some more before this test calls it slow.
    expect((user + system) / 1000).toBeLessThan(500);
  }
});
