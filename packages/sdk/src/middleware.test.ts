import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify, { type FastifyContextConfig } from 'fastify';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DEVELOPER, startIssuer } from '../test/issuer.ts';
import * as forExpress from './express.ts';
import { behestAuth } from './fastify.ts';
import * as forHono from './hono.ts';
import type { GuardOptions } from './http/guard.ts';

const AUDIENCE = 'https://api.example.test';

/** In this repository the service demands more members of every route's configuration. */
const saying = (behest: FastifyContextConfig['behest']) => ({ behest }) as FastifyContextConfig;

/** Each serves `/calendar`, which needs a scope, and `/who`, which needs a token. */
const servers: Readonly<Record<string, (options: GuardOptions) => Promise<string>>> = {
  async express(options) {
    const app = express();
    app.use(forExpress.requireGrantToken(options));
    app.get(
      '/calendar',
      forExpress.requireScopes('calendar:read'),
      (_, response) => void response.json('events'),
    );
    app.get('/who', (request: forExpress.ExpressRequest, response) => {
      response.json(request.grant?.principalId);
    });
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    // A server that listens on a port has an address with a port.
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },
  async fastify(options) {
    const app = fastify();
    await app.register(behestAuth, options);
    app.get('/calendar', { config: saying({ scopes: ['calendar:read'] }) }, async () =>
      JSON.stringify('events'),
    );
    app.get('/who', async (request) => JSON.stringify(request.grant?.principalId));
    app.get('/open', { config: saying(false) }, async () => 'open');
    onTestFinished(() => app.close());
    return app.listen({ port: 0, host: '127.0.0.1' });
  },
  async hono(options) {
    const app = new Hono<{ Variables: forHono.BehestVariables }>();
    app.use(forHono.requireGrantToken(options));
    app.get('/calendar', forHono.requireScopes('calendar:read'), (c) => c.json('events'));
    app.get('/who', (c) => c.json(c.get('grant').principalId));
    return new Promise((resolve) => {
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
        resolve(`http://127.0.0.1:${port}`),
      );
      onTestFinished(() => void server.close());
    });
  },
};

describe.each(Object.entries(servers))('%s', (name, open) => {
  async function start(more: Partial<GuardOptions> = {}) {
    const issuer = await startIssuer();
    const { jwksUri } = issuer;
    const url = await open({ jwksUri, developerId: DEVELOPER, audience: AUDIENCE, ...more });
    const get = (path: string, authorization?: string) =>
      fetch(`${url}${path}`, { headers: authorization === undefined ? {} : { authorization } });
    return { issuer, url, get };
  }

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

  test('is not made without the developer', async () => {
    // As in JavaScript, where nothing demands the member.
    const options = { jwksUri: 'https://a.example/jwks' } as GuardOptions;

    await expect(open(options), name).rejects.toThrow('developerId is required');
  });
});

test('fastify: a route can say that it needs no token', async () => {
  const { jwksUri } = await startIssuer();
  const url = await servers.fastify?.({ jwksUri, developerId: DEVELOPER, audience: AUDIENCE });

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
