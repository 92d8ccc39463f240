import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify, { type FastifyContextConfig } from 'fastify';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DEVELOPER, startIssuer } from '../test/issuer.ts';
import { Behest } from './behest.ts';
import * as forExpress from './express.ts';
import { behestAuth, enforceTool } from './fastify.ts';
import * as forHono from './hono.ts';
import type { GuardOptions } from './http/guard.ts';

const AUDIENCE = 'https://api.example.test';

const refund = { connector: 'pay', tool: 'refund' };
const manifest = {
  connector: 'pay',
  tools: { refund: { permission: 'write', arguments: { '/amount': { max: '50' } } } },
};
const behestFor = (baseUrl: string) =>
  new Behest({ apiKey: null, baseUrl, developerId: DEVELOPER, manifests: [manifest] });

/** In this repository the service demands more members of every route's configuration. */
const saying = (behest: FastifyContextConfig['behest']) => ({ behest }) as FastifyContextConfig;

/** Each serves `/calendar`, which needs a scope, and `/who`, which needs a token. */
const servers: Readonly<Record<string, (options: GuardOptions, behest: Behest) => Promise<string>>> = {
  async express(options, behest) {
    const app = express();
    app.use(forExpress.requireGrantToken(options));
    app.get(
      '/calendar',
      forExpress.requireScopes('calendar:read'),
      (_, response) => void response.json('events'),
    );
    const tool = forExpress.enforceTool(behest, refund);
    app.post('/refund', express.json(), tool, (request: forExpress.ExpressRequest, response) => {
      response.json(request.toolArguments);
    });
    app.get('/who', (request: forExpress.ExpressRequest, response) => {
      response.json(request.grant?.principalId);
    });
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    // A server that listens on a port has an address with a port.
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },
  async fastify(options, behest) {
    const app = fastify();
    await app.register(behestAuth, options);
    app.get('/calendar', { config: saying({ scopes: ['calendar:read'] }) }, async () =>
      JSON.stringify('events'),
    );
    app.get('/who', async (request) => JSON.stringify(request.grant?.principalId));
    const preHandler = enforceTool(behest, refund);
    app.post('/refund', { config: saying({}), preHandler }, async (request) => request.toolArguments);
    app.get('/open', { config: saying(false) }, async () => 'open');
    onTestFinished(() => app.close());
    return app.listen({ port: 0, host: '127.0.0.1' });
  },
  async hono(options, behest) {
    const app = new Hono<{ Variables: forHono.BehestVariables }>();
    app.use(forHono.requireGrantToken(options));
    app.get('/calendar', forHono.requireScopes('calendar:read'), (c) => c.json('events'));
    app.post('/refund', forHono.enforceTool(behest, refund), (c) => c.json(c.get('toolArguments')));
    app.get('/who', (c) => c.json(c.get('grant').principalId));
    return new Promise((resolve) => {
      const server = serve(
        { fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false },
        ({ port }) => resolve(`http://127.0.0.1:${port}`),
      );
      onTestFinished(() => void server.close());
    });
  },
};

describe.each(Object.entries(servers))('%s', (name, open) => {
  async function start(more: Partial<GuardOptions> = {}) {
    const issuer = await startIssuer();
    const { jwksUri } = issuer;
    const url = await open(
      { jwksUri, developerId: DEVELOPER, audience: AUDIENCE, ...more },
      behestFor(issuer.url),
    );
    const get = (path: string, authorization?: string) =>
      fetch(`${url}${path}`, { headers: authorization === undefined ? {} : { authorization } });
    const post = async (body: unknown, scope = 'tool:pay:write') =>
      fetch(`${url}/refund`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${await issuer.token({ scp: [scope] })}`,
        },
        body: JSON.stringify(body),
      });
    return { issuer, url, get, post };
  }

  test('takes an empty body for a call without arguments, and none that is no JSON', async () => {
    const { url, issuer } = await start();
    const authorization = `Bearer ${await issuer.token({ scp: ['tool:pay:write'] })}`;
    const send = (body?: string) =>
      fetch(`${url}/refund`, {
        method: 'POST',
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body }),
      });

    const [empty, broken, good] = [await send(), await send('{"amount":'), await send('{"amount":20}')];

    expect(empty.status).toBe(403);
    expect(await empty.json()).toMatchObject({
      sub_reason: 'argument_missing',
      details: { path: '/amount' },
    });
    expect(broken.status).toBe(400);
    if (name === 'hono')
      expect(await broken.json()).toMatchObject({ code: 'BAD_REQUEST', message: 'The body is no JSON.' });
    expect([good.status, await good.json()]).toEqual([200, { amount: 20 }]);
    expect((await send('"text"')).status).toBeGreaterThanOrEqual(400);
    expect((await send('"text"')).status).toBeLessThan(500);
  });

  test('lets a good token through, and hands on whose it is', async () => {
    const { issuer, get } = await start();
    const token = await issuer.token();

    const answers = [await get('/calendar', `Bearer ${token}`), await get('/who', `bEaReR ${token}`)];

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await answers[0]?.json()).toBe('events');
    expect(await answers[1]?.json()).toBe('user_42');
  });

  test('answers 401 with a challenge that says what is wrong', async () => {
    const { issuer, url, get } = await start();
    const token = await issuer.token();
    const expired = await issuer.token({ exp: Math.floor(Date.now() / 1_000) - 60 });
    const elsewhere = await issuer.token({ aud: 'https://other.example' });
    const stranger = await issuer.token({ dev: 'dev_2', 'urn:service:grant': undefined });
    const cases = [
      [await get('/calendar'), 'TOKEN_MISSING', 'Bearer'],
      [await get('/calendar', `Basic ${token}`), 'TOKEN_MISSING', 'Bearer'],
      [await get('/calendar', 'Bearer '), 'TOKEN_MISSING', 'Bearer'],
      [await fetch(`${url}/calendar?access_token=${token}`), 'TOKEN_MISSING', 'Bearer'],
      [await get('/calendar', 'Bearer nonsense'), 'TOKEN_INVALID', 'Bearer error="invalid_token"'],
      [await get('/calendar', `Bearer ${expired}`), 'TOKEN_EXPIRED', 'Bearer error="invalid_token"'],
      [await get('/calendar', `Bearer ${elsewhere}`), 'TOKEN_INVALID', 'Bearer error="invalid_token"'],
      [await get('/calendar', `Bearer ${stranger}`), 'TOKEN_INVALID', 'Bearer error="invalid_token"'],
    ] as const;

    for (const [answer, code, challenge] of cases) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe(challenge);
      expect(await answer.json()).toEqual({ code, error: code, message: expect.any(String) });
    }
  });

  test('answers 403 and the whole list of scopes when one is missing', async () => {
    const { issuer, get } = await start();

    const answer = await get('/calendar', `Bearer ${await issuer.token({ scp: ['mail:read'] })}`);

    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: 'SCOPE_INSUFFICIENT' });
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_scope", scope="calendar:read"',
    );
  });

  test('answers 503 when the keys cannot be had, and tells the operator', async () => {
    const failures: unknown[] = [];
    const { issuer, get } = await start({ onError: (error) => failures.push(error) });
    issuer.answers('error');

    const answer = await get('/calendar', `Bearer ${await issuer.token()}`);

    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'KEYS_UNAVAILABLE' });
    expect(failures).toMatchObject([{ name: 'BehestNetworkError' }]);
  });

  test('lets a tool call through when it is allowed, and says why when it is not', async () => {
    const { post } = await start();

    const [good, much, reading] = [
      await post({ amount: 50 }),
      await post({ amount: 51 }),
      await post({ amount: 5 }, 'tool:pay:read'),
    ];

    expect(good.status).toBe(200);
    expect(await good.json()).toEqual({ amount: 50 });
    expect(much.status).toBe(403);
    expect(await much.json()).toMatchObject({
      code: 'TOOL_DENIED',
      reason_code: 'tool_not_granted',
      sub_reason: 'argument_not_allowed',
    });
    expect(await reading.json()).toMatchObject({ reason_code: 'permission_insufficient', sub_reason: null });
  });

  test('is not made without the developer', async () => {
    // As in JavaScript, where nothing demands the member.
    const options = { jwksUri: 'https://a.example/jwks' } as GuardOptions;

    await expect(open(options, behestFor('https://a.example')), name).rejects.toThrow(
      'developerId is required',
    );
  });
});

test('fastify: a route can say that it needs no token', async () => {
  const { jwksUri, url: url_ } = await startIssuer();
  const url = await servers.fastify?.(
    { jwksUri, developerId: DEVELOPER, audience: AUDIENCE },
    behestFor(url_),
  );

  expect((await fetch(`${url}/open`)).status).toBe(200);
  expect((await fetch(`${url}/who`)).status).toBe(401);
});

test('express and hono: scopes without a token before them are a mistake of the program', async () => {
  const app = express();
  app.get('/', forExpress.requireScopes('a:b'), (_, response) => void response.json(1));
  app.use((error: Error, _: unknown, response: express.Response, next: unknown) => {
    expect(next).toBeTypeOf('function'); // Express tells a handler of errors by its four parameters
    response.status(500).json(error.message);
  });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // as above
  const hono = new Hono().get('/', forHono.requireScopes('a:b'), (c) => c.json(1));
  hono.onError((error, c) => c.json(error.message, 500));

  const answers = [await fetch(`http://127.0.0.1:${port}`), await hono.request('/')];

  for (const answer of answers) {
    expect(answer.status).toBe(500);
    expect(await answer.json()).toContain('after requireGrantToken');
  }
});

test.each([
  { tool: { connector: 'pay', tool: 'refund' } },
  { scope: ['calendar:read'] },
  { scopes: 'calendar:read' },
  ...[true, null, ['calendar:read']],
])('fastify: a route whose settings would not be read is refused: %j', async (said) => {
  const { jwksUri } = await startIssuer();
  const app = fastify();
  await app.register(behestAuth, { jwksUri, developerId: DEVELOPER, audience: AUDIENCE });
  const config = { behest: said } as FastifyContextConfig; // as a program in JavaScript would

  expect(() => app.get('/refund', { config }, async () => 'paid')).toThrow('config.behest of /refund');
  expect(() => app.get('/open', { config: saying(false) }, async () => 'open')).not.toThrow();
});
