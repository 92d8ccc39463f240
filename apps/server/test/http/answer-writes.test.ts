import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Socket } from 'node:net';
import Fastify from 'fastify';
import { sql } from 'kysely';
import { expect, inject, onTestFinished, test } from 'vitest';
import { rateSettings } from '../../src/config/limits.ts';
import { limits } from '../../src/features.ts';
import { addReadyAnswers } from '../../src/platform/http/answers/ready-answers.ts';
import { startSandbox } from '../app/flow.ts';
import { type HotCall, hotCallsOf } from '../app/hot-calls.ts';
import { startReceiver } from '../app/receiving.ts';
import { newDatabase, openConnections, type Service, startApp } from '../app/start-app.ts';
import { storeCredential } from '../app/vault.ts';

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

/** A process leases nothing of limits below 40, so each call is counted by itself. */
const unleased = Object.fromEntries(Object.keys(rateSettings(limits)).map((name) => [name, '39']));

const SUCCESSES = [200, 201, 204, 303];

test('a call of an agent writes once to its client, and to a store as often as it waits for its answer', async () => {
  const { acme, service } = await startSandbox({ env: unleased });
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
    'OAuth exchange of a received token': [1, 2, 3],
    'OAuth token of a receiver': [1, 2, 2],
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

const PATH = '/.well-known/jwks.json';

/** Sends over a connection, which `inject` does not. */
async function startListening() {
  const service = await startApp({ logLevel: 'debug' });
  const url = await service.app.listen({ port: 0, host: '127.0.0.1' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ask = async (headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
    const asked = request(url + PATH, { agent, method, headers }).end();
    const [answer]: IncomingMessage[] = await once(asked, 'response');
    if (!answer) throw new Error('There is no answer.');
    const body = Buffer.concat(await answer.toArray()).toString();
    return { status: answer.statusCode, headers: answer.headers, body };
  };
  const lines = (): Record<string, unknown>[] => service.logLines.map((line) => JSON.parse(line));
  return { service, ask, lines };
}

const whole = {
  date: expect.any(String),
  connection: 'keep-alive',
  'keep-alive': expect.any(String),
  'x-request-id': expect.stringMatching(
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  ),
};

test('a ready answer has the head and the body that the usual way gives', async () => {
  const { service, ask } = await startListening();
  const usual = await service.app.inject({ url: PATH });
  const ready = await ask();
  expect(ready).toEqual({ status: 200, headers: { ...usual.headers, ...whole }, body: usual.body });
  expect(JSON.parse(ready.body).keys).not.toEqual([]);
});

test('a ready answer is logged and counted, and keeps the id of its request', async () => {
  const { service, ask, lines } = await startListening();
  service.logLines.length = 0;
  const { headers } = await ask({ 'x-request-id': 'abc' });
  expect(headers['x-request-id']).toBe('abc');
  expect(lines()).toEqual([
    {
      ...{ level: 'info', msg: 'request', reqId: 'abc', method: 'GET', route: PATH, status: 200 },
      time: expect.any(String),
      responseTime: expect.any(Number),
    },
  ]);
});

test('a request that tells more takes the usual way, on the same connection', async () => {
  const { ask } = await startListening();
  const { headers } = await ask();
  const etag = String(headers.etag);
  const [page, held, changed, head, body, again] = [
    await ask({ origin: 'https://app.example' }),
    await ask({ 'if-none-match': etag }),
    await ask({ 'if-none-match': '"other"' }),
    await ask({}, 'HEAD'),
    await ask({}, 'POST'),
    await ask(),
  ];
  expect([page, held, changed, head, body, again].map(({ status }) => status)).toEqual([
    200, 304, 200, 200, 405, 200,
  ]);
  expect([held.body, head.body]).toEqual(['', '']);
  expect(page.headers['access-control-allow-origin']).toBe('*');
});

test('a route that counts its requests, or asks who sends them, has no ready answer', async () => {
  const ready = () => ({ document: { body: '', etag: '' }, headers: {} });
  const declare = (config: object) => {
    const app = Fastify();
    addReadyAnswers(app, { report: () => {}, isProduction: false, isStopping: () => false });
    return () => app.get('/', { config: { ready, ...config } as never }, () => '');
  };
  expect(declare({ access: 'none', rate: 'default' })).toThrow('without limit');
  expect(declare({ access: 'developer', rate: 'unlimited' })).toThrow('without limit');
  expect(declare({ access: 'none', rate: 'unlimited' })).not.toThrow();
});

/** Tables into which the acts below write. */
const WRITTEN = ['audit_entries', 'email_verifications'];

test('nobody outside hears of an act whose commit fails', async () => {
  const { service, acme } = await startSandbox({
    databaseUrl: await newDatabase(),
    env: { VAULT_REFRESH_ALLOW_PRIVATE_HOSTS: 'true' },
  });
  const upstream = await startReceiver();
  const { id } = await storeCredential(acme, {
    refreshToken: 'upstream-refresh-1',
    refresh: { tokenEndpoint: upstream.url, revocationEndpoint: upstream.url, clientId: 'behest' },
  });
  await sql`create function refuse_commit() returns trigger language plpgsql as
    $$ begin raise exception 'the disk is full' using errcode = '53100'; end $$`.execute(service.db);
  for (const table of WRITTEN)
    await sql`create constraint trigger refuse_commit after insert on ${sql.table(table)}
      deferrable initially deferred for each row execute function refuse_commit()`.execute(service.db);
  const outside = () => [
    service.mails.sent().length,
    upstream.received.filter(({ path }) => path === '/hook').length,
  ];
  const ask = () =>
    Promise.all([
      acme('POST', '/v1/signup/verify', { email: 'ada@acme.test' }),
      acme('DELETE', `/v1/vault/credentials/${id}`),
    ]);

  const refused = (await ask()).map(({ statusCode }) => statusCode);
  await fetch(`${upstream.url}/afterwards`); // whatever was sent before has come
  const heard = outside();
  await sql`drop function refuse_commit cascade`.execute(service.db);
  const done = (await ask()).map(({ statusCode }) => statusCode);

  expect([refused, heard]).toEqual([
    [503, 503],
    [0, 0],
  ]);
  expect(done).toEqual([201, 204]);
  await expect.poll(outside).toEqual([1, 1]); // each is heard of after its commit
});

/** How often the process wrote to each peer. */
interface Writes {
  client: number;
  redis: number;
  postgres: number;
}

/** The ports of this machine by which the peers are told apart: the service's own, and those of the stores. */
type Ports = Readonly<Record<keyof Writes, number>>;

/** The methods of a socket that write to the network, once for each call. */
type Writer = Record<'_write' | '_writev', (this: Socket, ...given: unknown[]) => void>;

/**
 * Counts the writes of this process to its sockets until the test is over. A write costs more than most hooks. Some do
 * not count, since they belong to no request: hints of commits, of which several may be one, looks whether Redis is there,
 * and the ends of connections to Postgres that were idle.
 */
function countingWrites(ports: Ports): Writes {
  const writes: Writes = { client: 0, redis: 0, postgres: 0 };
  const peerOf = ({ localPort, remotePort }: Socket): keyof Writes | undefined => {
    if (localPort === ports.client) return 'client';
    if (remotePort === ports.redis) return 'redis';
    return remotePort === ports.postgres ? 'postgres' : undefined;
  };
  for (const name of ['_write', '_writev'] as const) {
    const { prototype }: { prototype: Writer } = Object(Socket);
    const write = prototype[name];
    prototype[name] = function (...given) {
      const peer = peerOf(this);
      const isIts =
        !(peer === 'redis' && isAside(given[0])) && !(peer === 'postgres' && isOfConnection(given[0]));
      if (peer !== undefined && isIts) writes[peer] += 1;
      write.apply(this, given);
    };
    onTestFinished(() => {
      prototype[name] = write;
    });
  }
  return writes;
}

/** @param given the first argument of either method: one piece, or several with their encodings */
const textOf = (given: unknown): string =>
  Array.isArray(given) ? given.map(({ chunk }) => String(chunk)).join('') : String(given);

/** Whether a write is `Terminate` in the protocol of Postgres, or what a connection is asked once in its life. */
const isOfConnection = (given: unknown): boolean =>
  textOf(given) === 'X\0\0\0\x04' || textOf(given).includes('select pg_backend_pid() as pid');

/** Whether each command of a write is one that no request waits for (RESP: an array of texts, of which the first names it). */
function isAside(given: unknown): boolean {
  const commands = [...textOf(given).matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)\r$/gm)].map(([, name]) => name);
  return commands.length > 0 && commands.every((name = '') => /^(?:PUBLISH|PING)$/.test(name));
}
