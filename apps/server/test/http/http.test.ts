import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify, { type FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { requireDeclarations } from '../../src/platform/http/routes/declarations.ts';
import { type Service, startApp } from '../app/start-app.ts';

const json = 'application/json';

/** For tests that ask one thing and leave nothing that another test could meet. */
let shared: Service;
beforeAll(async () => {
  shared = await startApp({ isShared: true });
  return shared.stop;
});

/** Over a socket, for bytes that no client library sends. Reads until the service ends the connection. */
async function talk(app: FastifyInstance, bytes: string) {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  const port = Number(new URL(app.listeningOrigin).port);
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes.replaceAll('\n', '\r\n'));
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  return { head, body };
}

describe('credentials', () => {
  const key = `bh_live_${'x'.repeat(43)}`;

  test.each<[string, Record<string, string>, string]>([
    ['nothing', {}, 'Bearer'],
    ['an empty header', { authorization: '' }, 'Bearer'],
    ['another scheme', { authorization: `Basic ${key}` }, 'Bearer'],
    ['a scheme without a key', { authorization: 'bearer  ' }, 'Bearer'],
    ['two words', { authorization: `Bearer ${key} ${key}` }, 'Bearer'],
    ['a key alone', { authorization: key }, 'Bearer'],
    ['a key of nobody', { authorization: `Bearer ${key}` }, 'Bearer error="invalid_token"'],
    ['a key that is not ours', { authorization: 'Bearer ’' }, 'Bearer error="invalid_token"'],
    ['a key of 8 kB', { authorization: `Bearer ${'k'.repeat(8192)}` }, 'Bearer error="invalid_token"'],
  ])('T1: %s proves nothing', async (_, headers, challenge) => {
    const { app } = shared;

    const refused = await app.inject({ url: '/v1/agents', headers });

    expect(refused.statusCode).toBe(401);
    expect(refused.json()).toEqual({
      code: 'UNAUTHORIZED',
      message: expect.any(String),
      requestId: refused.headers['x-request-id'],
    });
    expect(refused.headers['www-authenticate']).toBe(challenge);
  });

  test('T1: a good key is accepted, with its scheme in any case', async () => {
    const { app, asDeveloper } = shared;
    const { apiKey } = await asDeveloper();

    const answer = await app.inject({ url: '/v1/agents', headers: { authorization: `bEARER ${apiKey}` } });

    expect(answer.statusCode).toBe(200);
  });

  test.each<[string, (apiKey: string) => object]>([
    [
      'in the query',
      (apiKey) => ({ query: { apiKey, access_token: apiKey, authorization: `Bearer ${apiKey}` } }),
    ],
    ['in a cookie', (apiKey) => ({ cookies: { authorization: `Bearer ${apiKey}`, apiKey } })],
    ['with a NUL', (apiKey) => ({ headers: { authorization: `Bearer ${apiKey}\0` } })],
    [
      'in another header',
      (apiKey) => ({ headers: { 'x-api-key': apiKey, 'proxy-authorization': `Bearer ${apiKey}` } }),
    ],
    ['without its end', (apiKey) => ({ headers: { authorization: `Bearer ${apiKey.slice(0, -1)}` } })],
    ['with another end', (apiKey) => ({ headers: { authorization: `Bearer ${apiKey.slice(0, -4)}zzzz` } })],
  ])('T1, T2: a good key %s is refused', async (_, sent) => {
    const { app, asDeveloper } = shared;
    const { apiKey } = await asDeveloper();

    const refused = await app.inject({ url: '/v1/agents', ...sent(apiKey) });

    expect(refused.statusCode).toBe(401);
  });

  test('T1: two at once are refused', async () => {
    const { app, asDeveloper } = shared;
    const { apiKey } = await asDeveloper();
    const twice = `Authorization: Bearer ${apiKey}\n`.repeat(2);

    const { head } = await talk(app, `GET /v1/agents HTTP/1.1\nHost: x\nConnection: close\n${twice}\n`);

    expect(head).toMatch(/^HTTP\/1.1 401 /);
  });
});

test('an unknown expectation is ignored, as RFC 9110, section 10.1.1, allows', async () => {
  const { head } = await talk(
    shared.app,
    'GET /livez HTTP/1.1\nHost: x\nConnection: close\nExpect: nonsense\n\n',
  );

  expect(head).toMatch(/^HTTP\/1.1 200 /);
  expect(head).toContain('x-frame-options: DENY');
});

describe('a body', () => {
  const named = (name: string) => `{"name":${name}}`;
  const members = (count: number) => `{"name":"a","scopes":[${'{"a":1},'.repeat(count - 2)}{}]}`;

  test.each<[string, string, string | Buffer, number]>([
    ['I2: with a NUL', json, named('"a\\u0000b"'), 400],
    ['I2: with half a character', json, named('"\\ud800"'), 400],
    ['I2: that is not UTF-8', json, Buffer.from('7b226e616d65223a22ff227d', 'hex'), 400],
    ['I2: with a byte-order mark', json, `\ufeff${named('"a"')}`, 400],
    ['I2: with a control character in a name', json, named('"a\\u001bb"'), 400],
    ['I2: with a line feed in a name', json, named('"a\\nb"'), 400],
    ['I2: with writing turned round in a name', json, named('"a\\u202eb"'), 400],
    ['I2: with a line feed in a description', json, '{"name":"a","description":"a\\nb"}', 201],
    ['I3: that names a member twice', json, '{"name":"a","name":"b"}', 400],
    ['I3: that names it twice, once escaped', json, '{"name":"a","n\\u0061me":"b"}', 400],
    ['I3: that is no JSON', json, '{"name":', 400],
    ['I3: with a comma too many', json, '{"name":"a",}', 400],
    ['I3: with NaN', json, named('NaN'), 400],
    ['I3: with a number too large for one', json, named('1e400'), 400],
    ['I3: with a number of 10 kB', json, named('1'.repeat(10_000)), 400],
    ['I3: that is too deep', json, named(`${'['.repeat(32)}${']'.repeat(32)}`), 400],
    ['I3: with too many members', json, members(10_001), 400],
    ['I3: that is too large', json, named(`"${'x'.repeat(1_048_576)}"`), 413],
    ['I3: as large as one may be', json, named('"a"').padEnd(1_048_576), 201],
    ['I4: that is null', json, 'null', 400],
    ['I4: that is a list', json, '[]', 400],
    ['I4: that is a text', json, '"name"', 400],
    ['I4: with a list for a text', json, named('["a"]'), 400],
    ['I4: with a number for a text', json, named('5'), 400],
    ['I4: with null for a text', json, named('null'), 400],
    ['I4: with an object for a scope', json, '{"name":"a","scopes":[{}]}', 400],
    ['I5: of plain text', 'text/plain', named('"a"'), 415],
    ['I5: of a form', 'application/x-www-form-urlencoded', 'name=a', 415],
    ['I5: of many parts', 'multipart/form-data; boundary=x', '--x--', 415],
    ['I5: of another charset', `${json}; charset=utf-7`, named('"a"'), 415],
    ['I5: of a name that begins like JSON', `${json}p`, named('"a"'), 415],
    ['I5: of a related type', 'application/merge-patch+json; charset=UTF-8', named('"a"'), 201],
    ['I5: with its charset in quotes', `${json};charset="utf-8"`, named('"a"'), 201],
    ['I4: with colons and braces in a text', json, named('"{\\"a\\":[:"'), 201],
    ['T6: that names a prototype', json, '{"name":"a","__proto__":{"polluted":1}}', 400],
    ['T6: that names a constructor', json, '{"name":"a","constructor":{"prototype":{"polluted":1}}}', 400],
    ['T6: that names a function', json, '{"name":"a","toString":1}', 400],
  ])('%s gets its status', async (_, type, payload, status) => {
    const { app, asDeveloper } = shared;
    const { apiKey } = await asDeveloper();

    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': type };
    const answer = await app.inject({ method: 'POST', url: '/v1/agents', headers, payload });

    expect(answer.statusCode).toBe(status);
    if (status >= 400) expect(answer.json().requestId).toBe(answer.headers['x-request-id']);
    expect(Object({})).not.toHaveProperty('polluted');
  });

  test.each([
    ['as large as one may be', 65_536, 201],
    ['that is too large', 65_537, 413],
  ])('I3: without an API key, %s gets its status', async (_, length, status) => {
    const { app } = shared;
    const body = named('"a"');

    const headers = { 'content-type': json };
    const payload = body.padEnd(length);
    const answer = await app.inject({ method: 'POST', url: '/v1/signup', headers, payload });

    expect(answer.statusCode).toBe(status);
    if (status === 413) expect(answer.json().details).toEqual({ limit: 65_536 });
  });

  test.each([
    ['gzip', 415],
    ['identity', 201],
    ['Identity', 201],
    ['identity, gzip', 415],
  ])('I5: with the encoding %s is %i', async (encoding, status) => {
    const { app, asDeveloper } = shared;
    const { apiKey } = await asDeveloper();

    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': json, 'content-encoding': encoding };
    const answer = await app.inject({ method: 'POST', url: '/v1/agents', headers, payload: named('"a"') });

    expect(answer.statusCode).toBe(status);
  });

  test('I5: without a type is refused, unless it is empty', async () => {
    const { app, asDeveloper } = shared;
    const { apiKey } = await asDeveloper();
    const headers = { authorization: `Bearer ${apiKey}` };

    const full = await app.inject({ method: 'POST', url: '/v1/agents', headers, payload: named('"a"') });

    expect(full.statusCode).toBe(415);
  });

  test.each([
    [undefined, ''],
    [json, ''],
    [json, '{}'],
  ])('with the type %s and the content %j is an empty object', async (type, payload) => {
    const { app, asDeveloper } = shared;
    const { apiKey } = await asDeveloper();

    const headers = { authorization: `Bearer ${apiKey}`, ...(type && { 'content-type': type }) };
    const refused = await app.inject({ method: 'POST', url: '/v1/agents', headers, payload });
    const rotated = await app.inject({ method: 'POST', url: '/v1/keys/rotate', headers, payload });

    expect(refused.json().details.fields).toEqual([{ path: 'name', problem: 'required' }]);
    expect(rotated.statusCode).toBe(200);
  });

  test('is ignored on a DELETE, whatever it holds', async () => {
    const { app, asDeveloper } = shared;
    const acme = await asDeveloper();
    const { agentId } = (await acme('POST', '/v1/agents', { name: 'a' })).json();

    const headers = { authorization: `Bearer ${acme.apiKey}`, 'content-type': ';;;' };
    const answer = await app.inject({
      method: 'DELETE',
      url: `/v1/agents/${agentId}`,
      headers,
      payload: '{',
    });

    expect(answer.statusCode).toBe(204);
    expect(answer.body).toBe('');
  });

  test('I4: is refused field by field when it is not valid, and no value is repeated', async () => {
    const { asDeveloper } = shared;
    const acme = await asDeveloper();

    const refused = await acme('POST', '/v1/agents', {
      name: '',
      description: 'secret-'.repeat(400),
      scopes: ['a:b', 5],
      isAdmin: 'secret',
    });

    expect(refused.statusCode).toBe(400);
    expect(refused.json()).toMatchObject({ code: 'BAD_REQUEST' });
    expect(refused.json().details.fields).toEqual(
      expect.arrayContaining([
        { path: 'name', problem: 'too_short' },
        { path: 'description', problem: 'too_long' },
        { path: 'scopes.1', problem: 'type' },
        { path: 'isAdmin', problem: 'unknown' },
      ]),
    );
    expect(refused.body).not.toContain('secret');
  });

  test('has its names trimmed, and all else taken as it was sent', async () => {
    const { asDeveloper } = shared;
    const acme = await asDeveloper();

    const decomposed = 'Café';
    const made = await acme('POST', '/v1/agents', { name: `  ${decomposed} `, description: ' as it is ' });

    expect(made.json()).toMatchObject({ name: decomposed, description: ' as it is ' });
  });
});

test('the paths that are reserved for payments are not there, whatever the credential, and count for no plan', async () => {
  const acme = await shared.asDeveloper();
  const usage = async () => (await acme('GET', '/v1/usage')).json();
  const before = await usage();

  for (const call of [acme, shared.calling('no')]) {
    for (const [method, path] of [
      ['GET', '/v1/commerce/'],
      ['GET', '/v1/commerce/orders/1'],
      ['POST', '/v1/commerce/checkout'],
    ] as const) {
      const answer = await call(method, path, method === 'POST' ? {} : undefined);
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toMatchObject({ code: 'NOT_FOUND' });
    }
  }
  expect(await usage()).toEqual(before);
});

describe('every answer', () => {
  test.each([
    ['GET', '/v1/nothing', 404],
    ['GET', '/', 404],
    ['GET', '/v1/agents/%ff', 404],
    ['GET', `/v1/agents/${'x'.repeat(2_049)}`, 404],
    ['GET', '/v1/agents', 401],
    ['PUT', '/v1/agents', 405],
    ['POST', '/v1/signup', 400],
  ] as const)(
    'H1: to %s %s has a request id, a rate and the standard headers',
    async (method, url, status) => {
      const { app } = await startApp({ realLimits: true, store: 'memory' });

      const answer = await app.inject({ method, url, headers: { 'x-request-id': 'mine-1' } });

      expect(answer.statusCode).toBe(status);
      expect(answer.json()).toMatchObject({ code: expect.any(String), message: expect.any(String) });
      expect(answer.json().requestId).toBe('mine-1');
      const limit = url === '/v1/signup' ? 30 : 5000;
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'x-request-id': 'mine-1',
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(limit - 1),
        'x-ratelimit-reset': '1767225660',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'permissions-policy': 'camera=(), microphone=(), geolocation=()',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
        'cache-control': 'no-store',
      });
      for (const name of ['server', 'x-powered-by', 'strict-transport-security', 'retry-after']) {
        expect(answer.headers).not.toHaveProperty(name);
      }
    },
  );

  test.each(['/v1/agents', '/v1/agents/%ff'])(
    'H1: in production tells browsers to come by TLS, as %s does',
    async (url) => {
      const { app } = await startApp({
        env: { NODE_ENV: 'production', VAULT_ENCRYPTION_KEY: 'ab'.repeat(32) },
      });

      const answer = await app.inject({ url });

      expect(answer.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
    },
  );

  test('has these headers when it is empty, too', async () => {
    const { asDeveloper } = shared;
    const acme = await asDeveloper();
    const { agentId } = (await acme('POST', '/v1/agents', { name: 'a' })).json();

    const answer = await acme('DELETE', `/v1/agents/${agentId}`);

    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expect(answer.headers).not.toHaveProperty('content-type');
    expect(answer.headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-ratelimit-limit': expect.any(String),
      'cache-control': 'no-store',
    });
  });

  test('has no rate when nothing is counted', async () => {
    const { app } = shared;

    const { headers, statusCode } = await app.inject({ url: '/.well-known/jwks.json' });

    expect(statusCode).toBe(200);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    expect(headers['x-request-id']).toBeDefined();
  });

  test.each([
    ['a-b_c.D9', true],
    ['x'.repeat(64), true],
    ['x'.repeat(65), false],
    ['', false],
    ['a b', false],
    ['a\tb', false],
    ['é', false],
    ['a,b', false],
  ])('I6: keeps the request id %j: %j', async (id, isKept) => {
    const { app } = shared;

    const { headers } = await app.inject({ url: '/livez', headers: { 'x-request-id': id } });

    if (isKept) expect(headers['x-request-id']).toBe(id);
    else expect(headers['x-request-id']).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });
});

describe('a path', () => {
  test.each([
    ['GET', '/v1/agents/', 404],
    ['GET', '/V1/agents', 404],
    ['GET', '/v1/Agents', 404],
    ['GET', '//v1/agents', 404],
    ['GET', '/v1//agents', 404],
    ['GET', '/v1/agents;a=b', 404],
    ['GET', '/v1/agents/..%2f..%2fkeys', 404],
    ['GET', '/v1/agents/%00', 404],
    ['GET', '/v1/agents/%2F', 404],
    ['GET', '/v1/agents/%', 404],
    ['GET', '/v1/agents/ag_1/', 404],
    ['GET', '/v1/agents/#', 404],
    ['GET', '/v1/agents/../keys', 200],
    ['GET', '/v1/agents?x=1', 400],
    ['GET', '/v1/agents?limit=1', 200],
    ['GET', '/v1/%61gents', 200],
    ['HEAD', '/v1/agents', 200],
    ['HEAD', '/v1/agents/ag_none', 404],
    ['PATCH', '/v1/agents', 405],
    ['PUT', '/v1/agents/ag_1', 405],
    ['OPTIONS', '/v1/agents', 405],
  ] as const)('I9: %s %s is %i for a caller with a key', async (method, url, status) => {
    const { app, asDeveloper } = shared;
    const { apiKey } = await asDeveloper();

    const answer = await app.inject({ method, url, headers: { authorization: `Bearer ${apiKey}` } });

    expect(answer.statusCode).toBe(status);
    if (method === 'HEAD') expect(answer.body).toBe('');
  });

  test.each([
    ['PATCH', '/v1/agents?x=1', 'GET, HEAD, POST'],
    ['POST', '/v1/agents/ag_1', 'DELETE, GET, HEAD, PATCH'],
    ['DELETE', '/v1/audit/head', 'GET, HEAD'],
    ['PUT', '/v1/keys/rotate', 'DELETE, POST'],
    ['POST', '/.well-known/jwks.json', 'GET, HEAD'],
  ] as const)('answers %s %s with the methods that it has', async (method, url, allow) => {
    const { app } = shared;

    const refused = await app.inject({ method, url, payload: 'anything' });

    expect(refused.statusCode).toBe(405);
    expect(refused.headers.allow).toBe(allow);
    expect(refused.json()).toMatchObject({
      code: 'METHOD_NOT_ALLOWED',
      details: { allow: allow.split(', ') },
    });
  });

  test('I9: takes no other method than the one it was called with', async () => {
    const { app, asDeveloper } = shared;
    const acme = await asDeveloper();
    const { agentId } = (await acme('POST', '/v1/agents', { name: 'a' })).json();

    await app.inject({
      url: `/v1/agents/${agentId}?_method=DELETE`,
      headers: {
        authorization: `Bearer ${acme.apiKey}`,
        'x-http-method-override': 'DELETE',
        'x-http-method': 'DELETE',
        'x-method-override': 'DELETE',
        'x-original-url': '/v1/keys',
        'x-rewrite-url': '/v1/keys',
      },
    });

    expect((await acme('GET', `/v1/agents/${agentId}`)).json()).toMatchObject({ status: 'active' });
  });

  test.each([
    ['TRACE', 'TRACE /v1/agents HTTP/1.1', 405],
    ['a method of another protocol', 'PROPFIND /v1/agents HTTP/1.1', 405],
    ['a method of nobody', 'FROB /v1/agents HTTP/1.1', 400],
    ['a whole URL', 'GET http://elsewhere.test/v1/agents HTTP/1.1', 401],
  ])('I9: over a socket, %s is refused', async (_, line, status) => {
    const { app } = shared;

    const { head } = await talk(app, `${line}\nHost: x\nConnection: close\n\n`);

    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .*x-request-id: `, 's'));
  });
});

describe('bytes', () => {
  const head = 'POST /v1/signup HTTP/1.1\nHost: x\nConnection: close\nContent-Type: application/json\n';
  const signup = '{"name":"Acme"}';

  test('I14: are answered when they are a request', async () => {
    const { app } = shared;

    const answer = await talk(app, `${head}Content-Length: ${signup.length}\n\n${signup}`);

    expect(answer.head).toMatch(/^HTTP\/1.1 201 /);
  });

  test('I14: are answered with 100 lines of headers', async () => {
    const { app } = shared;
    const lines = ['Host: x', 'Connection: close', ...Array(98).fill('X-More: x')];

    const answer = await talk(app, `GET /livez HTTP/1.1\n${lines.join('\n')}\n\n`);

    expect(answer.head).toMatch(/^HTTP\/1.1 200 /);
  });

  test.each([
    ['that are no HTTP', 'NOT HTTP\n\n'],
    ['with more headers than Node reads', `${head}X-Long: ${'x'.repeat(20_000)}\n\n`],
    [
      'with 101 lines of headers',
      `GET /livez HTTP/1.1\nHost: x\nConnection: close\n${'X-More: x\n'.repeat(99)}\n`,
    ],
    ['with no host', 'GET /livez HTTP/1.1\nConnection: close\n\n'],
    ['with two hosts', 'GET /livez HTTP/1.1\nHost: a\nHost: b\nConnection: close\n\n'],
    ['of two lengths', `${head}Content-Length: 15\nContent-Length: 16\n\n${signup}`],
    [
      'of a length and in chunks',
      `${head}Content-Length: 15\nTransfer-Encoding: chunked\n\nf\n${signup}\n0\n\n`,
    ],
    ['in chunks that are none', `${head}Transfer-Encoding: chunked\n\nzz\n`],
    ['with a broken line', `${head}X-A: b\rX-B: c\n\n`],
    ['with a NUL in a header', `${head}X-A: b\0c\n\n`],
  ])('I14: %s are refused in the one shape, and the connection ends', async (_, bytes) => {
    const { app } = shared;

    const answer = await talk(app, bytes);

    expect(answer.head).toMatch(/^HTTP\/1.1 400 .*x-request-id: /is);
    expect(answer.head).toMatch(/x-ratelimit-reset: \d+/);
    expect(answer.head).toMatch(/connection: close/i);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'BAD_REQUEST', requestId: expect.any(String) });
  });

  test('I14: end the connection when they follow a good request at once', async () => {
    const { app } = shared;

    const { head: answers, body } = await talk(app, 'GET /livez HTTP/1.1\nHost: x\n\nGARBAGE\n\n');

    expect(answers).toMatch(/^HTTP\/1.1 [24]00 /);
    expect(body).not.toContain('GARBAGE');
  });

  test('I14: are not waited for longer than 30 s when they come slowly', async () => {
    const { app } = shared;

    expect(app.server.headersTimeout).toBeLessThanOrEqual(30_000);
    expect(app.server.requestTimeout).toBeLessThanOrEqual(30_000);
    expect(app.server.requestTimeout).toBeGreaterThan(0);
  });
});

describe('other origins', () => {
  const origin = 'https://app.test';
  const env = { CORS_ALLOWED_ORIGINS: `${origin},https://second.test` };
  const preflight = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  };
  const namesOf = (headers: object) =>
    Object.keys(headers).filter((name) => name.startsWith('access-control'));

  test('H2: may read answers, refusals too, when they are allowed, and never get credentials', async () => {
    const { app } = await startApp({ env });

    for (const url of ['/v1/agents', '/livez', '/v1/nothing', '/consent']) {
      const { headers } = await app.inject({ url, headers: { origin } });

      expect(headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-expose-headers':
          'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, Idempotency-Replayed',
        vary: expect.stringMatching(/^Origin(, Accept(-Language)?)?$/),
      });
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  test('H2: can read that they asked too often when they are allowed', async () => {
    const { app } = await startApp({ env: { ...env, RATE_LIMIT_DEFAULT: '1' }, store: 'memory' });
    await app.inject({ url: '/livez' });

    const refused = await app.inject({ url: '/livez', headers: { origin } });

    expect(refused.statusCode).toBe(429);
    expect(refused.headers['access-control-allow-origin']).toBe(origin);
  });

  test.each(['null', 'https://app.test.evil.test', 'http://app.test', 'https://APP.test', '*'])(
    'H2: get no leave to read the answer, such as %s',
    async (other) => {
      const { app } = await startApp({ env });

      const plain = await app.inject({ url: '/livez', headers: { origin: other } });
      const asked = await app.inject({
        method: 'OPTIONS',
        url: '/v1/agents',
        headers: { ...preflight, origin: other },
      });

      expect([plain.statusCode, namesOf(plain.headers)]).toEqual([200, []]);
      expect([asked.statusCode, namesOf(asked.headers)]).toEqual([204, []]);
    },
  );

  test('H2: are not allowed by default, except for the console in development', async () => {
    const production = { NODE_ENV: 'production', VAULT_ENCRYPTION_KEY: 'ab'.repeat(32) };
    const [{ app: live }, { app: local }] = [await startApp({ env: production }), await startApp()];
    const headers = { origin: 'http://localhost:5173' };

    const [fromLive, fromLocal] = await Promise.all(
      [live, local].map((app) => app.inject({ url: '/livez', headers })),
    );

    expect(namesOf(fromLive?.headers ?? {})).toEqual([]);
    expect(fromLocal?.headers['access-control-allow-origin']).toBe('http://localhost:5173');
  });

  test('H2: learn their allowed headers when a browser asks first, and the request is counted', async () => {
    const { app } = await startApp({ env, realLimits: true, store: 'memory' });

    const answer = await app.inject({ method: 'OPTIONS', url: '/v1/agents/ag_1', headers: preflight });

    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
      'access-control-max-age': '600',
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '4999',
    });
    expect((await app.inject({ method: 'OPTIONS', url: '/v1/nothing', headers: preflight })).statusCode).toBe(
      404,
    );
  });

  test('H2: may always read public documents, and never the consent API', async () => {
    const { app } = await startApp({ env });

    for (const url of ['/.well-known/jwks.json', '/.well-known/did.json', '/openapi.json']) {
      const { headers } = await app.inject({ url, headers: { origin } });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['cross-origin-resource-policy']).toBe('cross-origin');
    }
    const url = '/v1/consent/areq_1/approve';
    for (const method of ['POST', 'OPTIONS', 'PUT'] as const) {
      const { headers, statusCode } = await app.inject({ method, url, headers: preflight });
      expect(namesOf(headers)).toEqual([]);
      expect(statusCode).toBe(method === 'POST' ? 403 : 405);
    }
  });

  test('agents K7: read public documents and their refusals, and may send any header', async () => {
    const { app } = await startApp({ env: { ...env, JWT_ISSUER: 'https://auth.test/tenant' } });
    const documents = [
      ...['/.well-known/jwks.json', '/.well-known/did.json', '/.well-known/oauth-authorization-server'],
      ...['/.well-known/oauth-protected-resource', '/.well-known/authzen-configuration', '/openapi.json'],
      ...['/.well-known/oauth-authorization-server/tenant', '/.well-known/oauth-protected-resource/tenant'],
      ...['/.well-known/ssf-configuration', '/docs', '/ns/credentials/v1', '/scim/v2/Schemas'],
    ];
    const missing = [
      ...[
        '/.well-known/openid-configuration',
        '/.well-known/oauth-authorization-server/mcp',
        '/.well-known/',
      ],
      ...['/mcp/.well-known/openid-configuration', '/v1/credentials/status/vcsl_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'],
      ...[
        '/v1/status-lists/vcsl_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
        '/agents/ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C/did.json',
      ],
      ...['/connect/clients/vp_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', '/docs/nothing.json', '/scim/v2/Schemas/none'],
    ];
    const seen = async (url: string) => {
      const asked = { origin: 'https://spa.test', 'access-control-request-method': 'GET' };
      const wanted = { 'access-control-request-headers': 'mcp-protocol-version, x-own' };
      const before = await app.inject({ method: 'OPTIONS', url, headers: { ...asked, ...wanted } });
      const answer = await app.inject({ url, headers: { origin: 'https://spa.test' } });
      return [
        ...[answer.statusCode, answer.headers['access-control-allow-origin']],
        ...[before.statusCode, before.headers['access-control-allow-origin']],
        ...[before.headers['access-control-allow-headers'], before.headers['access-control-allow-methods']],
      ];
    };

    const preflighted = [204, '*', '*, Authorization', 'GET, HEAD, OPTIONS'];
    for (const url of documents) expect([url, ...(await seen(url))]).toEqual([url, 200, '*', ...preflighted]);
    for (const url of missing) {
      const [status, ...rest] = await seen(url);
      expect([url, ...rest]).toEqual([url, '*', ...preflighted]);
      expect([url, Number(status) >= 400]).toEqual([url, true]);
    }
  });

  test('agents 23: call the endpoints of OAuth with the header of MCP, and manage a registration', async () => {
    const { app } = await startApp({ env });
    const allowed = async (url: string) => {
      const headers = { ...preflight, origin: 'https://spa.test' };
      const answer = await app.inject({ method: 'OPTIONS', url, headers });
      return ['origin', 'headers', 'methods'].map((name) => answer.headers[`access-control-allow-${name}`]);
    };

    const names = 'Authorization, Content-Type, DPoP, Idempotency-Key, MCP-Protocol-Version';
    expect(await allowed('/oauth/token')).toEqual(['*', names, 'POST, OPTIONS']);
    const methods = 'DELETE, GET, HEAD, PUT, OPTIONS';
    expect(await allowed('/oauth/register/dcr_01K9Z3QW5M8T2V4X6Y7Z8A9B0C')).toEqual(['*', names, methods]);
    expect(await allowed('/oauth/introspect')).toEqual([undefined, undefined, undefined]);
  });
});

describe('the log', () => {
  const prepareActs = ({ logLines }: Service) => logLines.map((line) => JSON.parse(line));

  test('has one line per request, with these members and no other', async () => {
    const service = await startApp({ logLevel: 'debug' });
    const acme = await service.asDeveloper();
    service.logLines.length = 0;

    await acme('GET', '/v1/agents?cursor=secret');
    const nowhere = await service.app.inject({ url: '/v1/no/secret', headers: { 'x-request-id': 'mine' } });
    await acme('PATCH', '/v1/agents/ag_unknown', { name: 'secret', unknown: 'secret' });

    expect(nowhere.statusCode).toBe(404);
    const always = { level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/), msg: 'request' };
    const measured = { reqId: expect.any(String), responseTime: expect.any(Number) };
    expect(prepareActs(service)).toEqual([
      { ...always, ...measured, method: 'GET', route: '/v1/agents', status: 400 },
      { ...always, ...measured, reqId: 'mine', method: 'GET', route: 'unknown', status: 404 },
      { ...always, ...measured, method: 'PATCH', route: '/v1/agents/:id', status: 400 },
    ]);
  });

  test('L2: cannot be forged by the content of a request', async () => {
    const service = await startApp({ logLevel: 'debug' });
    const forged = '\n{"level":"fatal"}\u001b[31m';

    await service.app.inject({
      url: `/v1/agents/${encodeURIComponent(forged)}`,
      headers: { 'user-agent': '\u001b[31m', 'x-request-id': 'a"b', authorization: 'Bearer \u001b[31m' },
    });

    expect(service.logLines).toHaveLength(1);
    expect(service.logLines.join('')).not.toMatch(/fatal|31m|.\n./);
  });

  test('names the cause of a failure, and the answer does not', async () => {
    const service = await startApp({ logLevel: 'info' });
    const acme = await service.asDeveloper();
    service.logLines.length = 0;
    await service.db.schema.alterTable('agents').renameTo('agents_gone').execute();

    const failed = await acme('GET', '/v1/agents');
    await service.db.schema.alterTable('agentsGone').renameTo('agents').execute();

    expect(failed.statusCode).toBe(500);
    expect(failed.json()).toEqual({
      code: 'INTERNAL_ERROR',
      message: 'Something went wrong. Quote the request id when you report it.',
      requestId: failed.headers['x-request-id'],
    });
    expect(prepareActs(service)[0]).toMatchObject({
      level: 'error',
      reqId: failed.json().requestId,
      err: { code: '42P01', message: expect.stringContaining('agents') },
    });
  });
});

test('without a database the answer is 503 and names the dependency', async () => {
  const away = openDatabase({ connectionString: 'postgres://nobody:x@127.0.0.1:1/nothing' });
  const { app } = await startApp({ dbAs: () => away });

  const refused = await app.inject({ url: '/v1/agents', headers: { authorization: 'Bearer x' } });

  expect(refused.statusCode).toBe(503);
  expect(refused.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { dependency: 'db' } });
  expect(refused.headers).not.toHaveProperty('retry-after');
});

test('a route whose body takes what it does not declare stops the server from starting', () => {
  const app = Fastify();
  requireDeclarations(app);
  const config = { access: 'none', rate: 'default', failures: [] } as const;
  const shapes = { body: Type.Object({}), response: { 204: Type.Null() } };
  const schema = { operationId: 'things.make', summary: 'Make a thing', ...shapes };

  const declare = () => app.post('/v1/careless', { config, schema }, async () => null);

  expect(declare).toThrow('POST /v1/careless: body does not say whether it takes members beyond its own');
});

test('T11: a route for `runtime` keys that does not say how it treats bound keys stops the server from starting', () => {
  const app = Fastify();
  requireDeclarations(app);
  const called = { access: 'developer', capability: 'read', role: 'runtime' } as const;
  const config = { ...called, rate: 'default', failures: [] } as const;
  const shapes = { response: { 200: Type.Object({}) } };
  const schema = { operationId: 'things.list', summary: 'List the things', ...shapes };
  const declare = (more: object) =>
    app.get('/v1/things', { config: { ...config, ...more }, schema }, () => ({}));

  expect(() => declare({})).toThrow('GET /v1/things does not declare boundKeys.');
  expect(() => declare({ boundKeys: 'forbidden' })).not.toThrow();
});

test('a route that declares nothing stops the server from starting', () => {
  const app = Fastify();
  requireDeclarations(app);

  const declare = () => app.post('/v1/careless/:id', async () => 'done');

  expect(declare).toThrow(
    'POST /v1/careless/:id does not declare operationId, summary, access, rate, failures, response, params, body.',
  );
});

describe('a browser that meets a refusal', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  const refusals = [
    ['GET', '/nowhere/%3Cb%3Ehere', 404],
    ['GET', '/v1/agents', 401],
    ['GET', '/v1/agents/', 404],
    ['GET', '/%zz', 404],
    ['GET', '/oauth/nowhere', 404],
  ] as const;

  test.each(refusals)(
    '%s %s reads a page, and a program JSON, with one status',
    async (method, url, status) => {
      const { app } = await startApp();
      const ask = (accept: string) =>
        app.inject({ method, url, headers: { accept, 'x-request-id': 'seen.1' } });

      const page = await ask(BROWSER);

      expect([page.statusCode, page.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
      expect(page.headers).toMatchObject({
        vary: 'Accept, Accept-Language',
        'content-language': 'en',
        'cache-control': 'no-store',
        'x-request-id': 'seen.1',
        'content-security-policy':
          "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      });
      expect(page.body).toContain('Request <code>seen.1</code>');
      expect(page.body).not.toMatch(/nowhere|agents|livez|zz|<script/);
      for (const accept of [
        '*/*',
        'application/json',
        'application/json, text/html',
        'text/html;q=0',
        'text/plain',
      ]) {
        const { statusCode, headers } = await ask(accept);
        expect([accept, statusCode, headers['content-type'], headers.vary]).toEqual([
          ...[accept, status, 'application/json; charset=utf-8', 'Accept'],
        ]);
      }
    },
  );

  test.each([
    ['DELETE', '/livez', {}, 405],
    ['POST', '/v1/agents', {}, 401],
    ['GET', '/v1/agents', { authorization: 'Bearer none' }, 401],
  ] as const)('%s %s with %j is sent by no link, so it reads JSON', async (method, url, headers, status) => {
    const { app } = await startApp();

    const answer = await app.inject({ method, url, headers: { ...headers, accept: BROWSER } });

    expect([answer.statusCode, answer.headers['content-type']]).toEqual([
      status,
      'application/json; charset=utf-8',
    ]);
  });

  test('is given a page after too many requests, with how long to wait', async () => {
    const { app } = await startApp({ env: { RATE_LIMIT_DEFAULT: '1' } });
    const ask = () => app.inject({ url: '/nowhere', headers: { accept: BROWSER } });
    await ask();

    const page = await ask();

    expect(page.statusCode).toBe(429);
    expect(page.headers['retry-after']).toMatch(/^\d+$/);
    expect(page.body).toContain(`Try again in ${page.headers['retry-after']} seconds.`);
  });

  test('keeps the Origin of pages that may call in Vary', async () => {
    const { app } = await startApp({ env: { CORS_ALLOWED_ORIGINS: 'https://spa.test' } });

    const answer = await app.inject({
      url: '/v1/agents',
      headers: { accept: BROWSER, origin: 'https://spa.test' },
    });

    expect(answer.headers.vary).toBe('Origin, Accept, Accept-Language');
  });
});

describe('the first page', () => {
  test('says what the service is to a browser, and is an unknown path to a program', async () => {
    const { app } = await startApp();

    const page = await app.inject({ url: '/', headers: { accept: 'text/html' } });
    const program = await app.inject({ url: '/' });

    expect([page.statusCode, page.headers.vary]).toEqual([200, 'Accept, Accept-Language']);
    for (const path of ['/docs', '/openapi.json']) {
      expect(page.body).toContain(`href="${path}"`);
      expect((await app.inject({ url: path })).statusCode).toBe(200);
    }
    expect([program.statusCode, program.json()]).toMatchObject([404, { message: 'No such route.' }]);
    expect((await app.inject({ url: '//', headers: { accept: 'text/html' } })).statusCode).toBe(404);
  });

  test('leads to no documentation that is not served', async () => {
    const { app } = await startApp({ env: { DOCS_ENABLED: 'false' } });

    const page = await app.inject({ url: '/', headers: { accept: 'text/html' } });

    expect(page.body).not.toContain('/docs');
    expect(page.body).toContain('/openapi.json');
  });

  test('has an icon, which a browser fetches once', async () => {
    const { app } = await startApp();

    const { statusCode, headers, rawPayload } = await app.inject({ url: '/favicon.ico' });

    expect([statusCode, headers['content-type']]).toEqual([200, 'image/png']);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(rawPayload.subarray(1, 4).toString()).toBe('PNG');
    expect(rawPayload.length).toBeLessThan(1024);
  });
});
