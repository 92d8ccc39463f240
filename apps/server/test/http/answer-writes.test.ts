import { expect, inject, test } from 'vitest';
import { countingWrites } from '../app/counted-writes.ts';
import { startSandbox } from '../app/flow.ts';
import { type HotCall, hotCallsOf } from '../app/hot-calls.ts';
import { openConnections } from '../app/open-connections.ts';
import type { Service } from '../app/start-app.ts';

/** Listens. @returns a way to send a request and learn its status and how often the service wrote to each peer */
async function listeningTo({ app, databaseUrl }: Service) {
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const portOf = (address: string) => Number(new URL(address).port);
  const writes = countingWrites({
    client: portOf(url),
    redis: portOf(inject('redisUrl')),
    postgres: portOf(databaseUrl),
  });
  return async ({ method, url: path, headers, payload }: HotCall) => {
    Object.assign(writes, { client: 0, redis: 0, postgres: 0 });
    const body = payload === undefined ? {} : { body: payload };
    const answer = await fetch(url + path, { method, headers, redirect: 'manual', ...body });
    await answer.arrayBuffer();
    return { status: answer.status, ...writes };
  };
}

const SUCCESSES = [200, 201, 204, 303];

test('a call of an agent writes once to its client, and to a store as often as it waits for its answer', async () => {
  const { acme, service } = await startSandbox();
  await openConnections(service.db);
  const calls = await hotCallsOf(service, acme);
  const send = await listeningTo(service);

  const counts: Record<string, [client: number, redis: number, postgres: number]> = {};
  for (const [name, call] of Object.entries(calls)) {
    const { status, client, redis, postgres } = await send(call);
    expect(SUCCESSES, name).toContain(status);
    counts[name] = [client, redis, postgres];
  }

  // A further write to Redis charges the client of OAuth, keeps a ticket, a code or the answer to a refresh, or takes a
  // code. A further one to
  // Postgres asks for what the answer before has named, reserves units of a cap, or writes.
  expect(counts).toEqual({
    verify: [1, 1, 1],
    introspect: [1, 1, 1],
    authorize: [1, 2, 2],
    exchange: [1, 2, 2],
    refresh: [1, 1, 2],
    delegate: [1, 1, 2],
    'exchange of a credential': [1, 1, 3],
    append: [1, 1, 2],
    enforce: [1, 1, 2],
    'enforce with a cap': [1, 1, 3],
    'AuthZEN evaluation': [1, 1, 2],
    'AuthZEN evaluations': [1, 2, 4], // two questions
    debit: [1, 1, 2],
    'OAuth authorize': [1, 3, 4],
    'OAuth token': [1, 3, 4],
    'OAuth refresh': [1, 3, 4],
    'OAuth introspect': [1, 2, 2],
    'get grant': [1, 1, 1],
    'get agent': [1, 1, 1],
    'list agents': [1, 1, 1],
    'list grants': [1, 1, 2],
    'list entries': [1, 1, 1],
    revoke: [1, 1, 2],
  });
});

test('an answer without a look at the database is one write', async () => {
  const { acme, service } = await startSandbox();
  const { etag } = (await acme('GET', '/.well-known/jwks.json')).headers;
  const send = await listeningTo(service);
  const get = (url: string, headers = {}) => send({ method: 'GET', url, headers });
  const one = { client: 1, redis: 0, postgres: 0 };
  const counted = { ...one, redis: 1 };

  expect({
    JWKS: await get('/.well-known/jwks.json'),
    'JWKS that the client holds': await get('/.well-known/jwks.json', { 'if-none-match': String(etag) }),
    'API description': await get('/openapi.json'),
    refusal: await get('/v1/nowhere'),
  }).toEqual({
    JWKS: { status: 200, ...one },
    'JWKS that the client holds': { status: 304, ...one },
    'API description': { status: 200, ...counted },
    refusal: { status: 404, ...counted },
  });
});
