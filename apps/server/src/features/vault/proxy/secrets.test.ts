import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { LightMyRequestResponse } from 'fastify';
import { expect, test, vi } from 'vitest';
import { failingPostgres, failingRedis, recordingTracer } from '../../../../test/app/hostile-errors.ts';
import { onThisMachine, proxied, through } from '../../../../test/app/proxy.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { everythingIn } from '../../../../test/app/seeking-secrets.ts';
import { newDatabase, startApp } from '../../../../test/app/start-app.ts';

vi.setConfig({ testTimeout: 60_000 }); // many failures in a row take long on a busy machine

const marked = () => randomBytes(30).toString('base64'); // with `/`, `+` and `=` in most, so that its forms differ

/** The texts under which a secret could show. */
const formsOf = (secret: string) =>
  ['latin1', 'hex', 'base64', 'base64url']
    .map((encoding) => Buffer.from(secret).toString(encoding as 'hex'))
    .concat(encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1));

/** The acts of an upstream that gets the credential. */
const UPSTREAMS: Readonly<Record<string, RequestListener>> = {
  'answers well': (_request, response) => void response.end('ok'),
  'repeats it in headers': ({ headers, url }, response) =>
    void response
      .writeHead(302, { location: `https://elsewhere.test${url}`, etag: `"${headers.authorization}"` })
      .end(),
  'repeats it in its body': ({ headers, url }, response) =>
    void response.end(`You sent ${url} ${JSON.stringify(headers)}`),
  'repeats it later': ({ headers, url }, response) => {
    response.write('a'.repeat(70_000));
    setTimeout(() => response.end(`You sent ${url} ${JSON.stringify(headers)}`), 5);
  },
  'refuses it': (_request, response) => void response.writeHead(401).end('refused'),
  'breaks off': ({ socket }) => void socket.destroy(),
  'breaks off in its body': (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('part');
    setTimeout(() => response.destroy(), 5);
  },
  'speaks no HTTP': ({ socket, headers, url }) =>
    void socket.end(`${url} ${JSON.stringify(headers)}\r\n\r\n`),
};

test.each([
  ['bearer', {}],
  ['basic', {}],
  ['header', { name: 'x-api-key', prefix: 'Key ' }],
  ['query', { name: 'api_key', acknowledgeUrlRisk: true }],
])('V5: a credential that is sent as %s shows nowhere but there, whatever fails', async (style, members) => {
  const databaseUrl = await newDatabase();
  const redis = failingRedis();
  const { tracer, told } = recordingTracer();
  const service = await startApp({
    databaseUrl,
    tracer,
    storeAs: redis.storeAs,
    logLevel: 'debug',
    env: { ...onThisMachine, LOG_LEVEL: 'debug' },
  });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const tokens = await startReceiver(); // a token endpoint that refuses, and repeats the request
  tokens.answer((request, response) => {
    const { body } = tokens.received.at(-1) ?? {};
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: 'invalid_request', error_description: `${body}`, at: request.url }));
  });
  const secrets = { accessToken: marked(), refreshToken: marked(), clientSecret: marked() };
  const { accessToken, refreshToken, clientSecret } = secrets;
  const refresh = {
    tokenEndpoint: `http://127.0.0.1:${tokens.port}/token`,
    clientId: 'behest',
    clientSecret,
  };
  const { receiver, grantToken } = await proxied(acme, {
    profile: { inject: { style, ...members }, returnHeaders: ['x-debug'] },
    credential: { accessToken, refreshToken, refresh, tokenExpiresAt: '2026-01-01T12:00:00Z' },
  });
  const answers: (readonly [number, string])[] = [];
  const call = async () => {
    const cut = ({ message }: Error) => ({ statusCode: 0, headers: { message }, body: '' });
    const answer: Pick<LightMyRequestResponse, 'statusCode' | 'headers' | 'body'> = await through(
      service,
      grantToken,
      '/repos/a',
    ).catch(cut); // after its first bytes, an answer can only be cut
    answers.push([answer.statusCode, JSON.stringify(answer.headers) + answer.body]);
  };

  for (const answering of Object.values(UPSTREAMS)) {
    receiver.answer(answering);
    await call();
    service.advance(61); // the next refusal may have the token refreshed
  }
  receiver.answerStatus(200);
  const postgres = failingPostgres();
  for (const failing of [postgres, redis]) {
    const before = failing.failures();
    for (const after of [0, 1, 2, 3, 4, 5]) {
      failing.fail(after);
      await call();
      failing.heal();
    }
    expect(failing.failures()).toBeGreaterThan(before);
  }
  receiver.server.close();
  receiver.server.closeAllConnections();
  await call();
  answers.push([0, (await acme('GET', '/v1/vault/proxy/calls')).body]);
  answers.push([0, (await acme('GET', '/v1/audit/entries?limit=100')).body]);

  const places = {
    answers: JSON.stringify(answers),
    log: service.logLines.join(''),
    metrics: (await service.app.inject({ url: '/metrics' })).body,
    spans: told.join(''),
    database: await everythingIn(databaseUrl),
  };
  for (const [name, secret] of Object.entries(secrets)) {
    for (const [place, text] of Object.entries(places)) {
      const shown = formsOf(secret).filter((form) => text.includes(form));
      expect(shown, `${name} in the ${place}`).toEqual([]);
    }
  }
  const sent = JSON.stringify(receiver.received);
  expect(formsOf(accessToken).some((form) => sent.includes(form))).toBe(true);
  expect(tokens.received.map(({ body }) => new URLSearchParams(body).get('refresh_token'))).toContain(
    refreshToken,
  );
  expect(new Set(answers.map(([status]) => status))).toEqual(new Set([0, 200, 302, 401, 500, 502, 503]));
  expect(places.log).toContain('/v1/vault/proxy/');
  expect(places.database).toContain('vault.proxy.called');
});
