import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { authorize, grantTo, startSandbox } from '../app/flow.ts';
import type { Service } from '../app/start-app.ts';

/** Listens, and counts how often each answer is handed to its connection. A write costs more than most hooks. */
async function countingWrites({ app }: Service, apiKey: string) {
  let writes = 0;
  app.server.on('connection', (socket: Socket) => {
    for (const method of ['_write', '_writev'] as const) {
      const write = socket[method];
      if (!write) throw new Error(`A socket has no ${method}.`);
      Reflect.set(socket, method, (...pieces: unknown[]) => {
        writes += 1;
        return Reflect.apply(write, socket, pieces);
      });
    }
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });

  return async (method: string, path: string, body?: object, more: Readonly<Record<string, string>> = {}) => {
    writes = 0;
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
      ...more,
    };
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    await answer.arrayBuffer();
    return [answer.status, writes];
  };
}

test('the head and the body of an answer are one write to the connection', async () => {
  const { acme, service } = await startSandbox();
  const { agentId, did: agentDid, grantId, grantToken: token, refreshToken } = await grantTo(acme);
  const { code } = await authorize(acme, agentId);
  const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
  const entry = { agentId, agentDid, grantId, principalId: 'user_42', action: 'email.sent' };
  const { etag } = (await acme('GET', '/.well-known/jwks.json')).headers;
  const ask = await countingWrites(service, acme.apiKey);

  expect({
    JWKS: await ask('GET', '/.well-known/jwks.json'),
    'JWKS that the client holds': await ask('GET', '/.well-known/jwks.json', undefined, {
      'if-none-match': String(etag),
    }),
    'API description': await ask('GET', '/openapi.json'),
    verify: await ask('POST', '/v1/tokens/verify', { token }),
    'list agents': await ask('GET', '/v1/agents'),
    authorize: await ask('POST', '/v1/authorize', asked),
    exchange: await ask('POST', '/v1/token', { code, agentId }),
    refresh: await ask('POST', '/v1/token/refresh', { refreshToken, agentId }),
    append: await ask('POST', '/v1/audit/log', entry),
    revoke: await ask('DELETE', `/v1/grants/${grantId}`),
    refusal: await ask('GET', '/v1/nowhere'),
  }).toEqual({
    JWKS: [200, 1],
    'JWKS that the client holds': [304, 1],
    'API description': [200, 1],
    verify: [200, 1],
    'list agents': [200, 1],
    authorize: [201, 1],
    exchange: [201, 1],
    refresh: [201, 1],
    append: [201, 1],
    revoke: [204, 1],
    refusal: [404, 1],
  });
});
