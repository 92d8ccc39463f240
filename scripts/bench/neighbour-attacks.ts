import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, openClient, type SentRequest, textOf } from './client.ts';
import { demand } from './load.ts';
import { asked, heldBy, signUp, type Tenant, turnOf } from './tenants.ts';

/** The answers to each kind of request. `cut` counts the connections that the service ended. */
export type Outcomes = Readonly<Record<string, Outcome>>;

interface Outcome {
  done: number;
  refused: number;
  failed: number;
  cut: number;
}

/** An address that is not the customer's, because limits by address are for each. */
const FROM = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';
const MINUTE = 60_000; // milliseconds
const BODY = 1_048_576; // the largest body that the service takes
/** The body with the most values for its bytes. */
const LARGE = Array.from({ length: Math.floor(BODY / 3) - 1 }, () => []);

/** People of one request of SCIM. */
const BULK = 200;

interface Attack {
  readonly name: string;
  /**
   * By API key a little more than the 100 requests that a free account has in a minute, and 150 without a key. Tokens of
   * identity providers and of receivers of signals have limits of their own.
   */
  readonly perMinute: number;
  /** A text is sent as it is, and not waited for. */
  readonly send: (count: number) => SentRequest | string;
  /** `none`: reads no byte of the answer, and keeps the connection. `to the end`: of an answer without a length. */
  readonly reads?: 'none' | 'to the end';
}

/** Begins every attack at once and repeats each by the clock. @returns the answers by attack */
async function attack(attacker: Attacker, port: number, seconds: number): Promise<Outcomes> {
  const endsAt = performance.now() + seconds * 1000;
  const kept = new Set<Socket>();
  const outcomes: Record<string, Outcome> = {};
  const loops = attacksOf(attacker).map(async ({ name, perMinute, send, reads }) => {
    const outcome = { done: 0, refused: 0, failed: 0, cut: 0 };
    outcomes[name] = outcome;
    const under = new Set<Promise<void>>();
    for (let count = 0; performance.now() < endsAt; count += 1) {
      const request = send(count);
      if (reads === 'none' || typeof request === 'string') keepUnread(port, request, outcome, kept);
      else {
        const answered = reads ? download(port, request, outcome) : ask(port, request, outcome);
        const one = answered.finally(() => under.delete(one));
        under.add(one);
      }
      await delay(Math.min(MINUTE / perMinute, Math.max(0, endsAt - performance.now())));
    }
    await Promise.race([Promise.all(under), delay(MINUTE)]);
  });
  await Promise.all(loops);
  for (const socket of kept) socket.destroy();
  const attempts = { done: attacker.unanswered(), refused: 0, failed: 0, cut: 0 };
  return { ...outcomes, 'webhooks to a server that never answers': attempts };
}

async function ask(port: number, request: SentRequest, outcome: Outcome): Promise<void> {
  const client = await openClient(port, FROM);
  const answer = await client.ask(request).catch(() => undefined);
  client.close();
  note(answer?.status, outcome);
}

/** Reads the answer until the service closes the connection. */
async function download(port: number, request: SentRequest, outcome: Outcome): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: FROM });
  const [line = '', ...lines] = textOf(request).split('\r\n');
  socket.write([line, 'connection: close', ...lines].join('\r\n'));
  let status: number | undefined;
  let isWhole = false;
  socket
    .on('error', () => {})
    .once('data', (head) => {
      status = Number(String(head).slice(9, 12));
    });
  socket.on('data', (bytes) => {
    isWhole = bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
  });
  await once(socket, 'close');
  note(isWhole || (status ?? 0) >= 400 ? status : undefined, outcome);
}

/** The end of an answer that came in chunks. */
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** @param status undefined when the answer did not come, or not to its end */
function note(status: number | undefined, outcome: Outcome): void {
  if (status === undefined) outcome.cut += 1;
  else if (status < 400) outcome.done += 1;
  else if (status < 500) outcome.refused += 1;
  else outcome.failed += 1;
}

function keepUnread(port: number, request: SentRequest | string, outcome: Outcome, kept: Set<Socket>): void {
  const socket = connect({ port, host: '127.0.0.1', localAddress: FROM });
  socket.pause();
  socket.write(typeof request === 'string' ? request : textOf(request));
  outcome.done += 1;
  kept.add(socket);
  socket.on('error', () => {});
  socket.once('close', () => {
    outcome.cut += 1;
    kept.delete(socket);
  });
}

function attacksOf(attacker: Attacker): readonly Attack[] {
  const { apiKey, deepToken, scimToken, signals } = attacker;
  const get = (path: string) => (): SentRequest => ({ method: 'GET', path, apiKey });
  const post = (path: string, bodyOf: (count: number) => object) => (count: number) => {
    return { method: 'POST', path, apiKey, body: bodyOf(count) };
  };
  const large = get('/v1/audit/entries?limit=500&order=desc');
  const stream = get('/v1/events/stream?lastEventId=evt_00000000000000000000000000');
  const append = post('/v1/audit/log', (count) => entryOf(attacker, count));
  const delegate = post('/v1/grants/delegate', (count) => delegation(deepToken, attacker, count));
  const request = post('/v1/authorize', (count) => {
    return { agentId: heldBy(attacker, count).agentId, ...asked };
  });
  const revoke = (count: number): SentRequest => {
    return { method: 'DELETE', path: `/v1/grants/${turnOf(attacker.trees, count)}`, apiKey };
  };
  const entries = get('/v1/compliance/export/audit');
  const pack = get('/v1/compliance/evidence-pack');
  const search = (count: number): SentRequest => {
    const filter = encodeURIComponent(`name.familyName co "${count}"`); // no index has them
    return { method: 'GET', path: `/scim/v2/Users?count=200&filter=${filter}`, apiKey: scimToken };
  };
  const bulk = (count: number): SentRequest => {
    const body = bulkOf(BULK, `again-${count}`);
    return { method: 'POST', path: '/scim/v2/Bulk', apiKey: scimToken, body };
  };
  const poll = (): SentRequest => {
    const { path, token } = signals;
    return { method: 'POST', path, apiKey: token, body: { maxEvents: 100 } }; // waits for a first one
  };
  return [
    { name: 'lists of large entries', perMinute: 15, send: large },
    { name: 'lists of large entries, not read', perMinute: 15, send: large, reads: 'none' },
    { name: 'verifications of the chain', perMinute: 10, send: get('/v1/audit/verify') },
    { name: 'entries of 16 KiB', perMinute: 15, send: append },
    { name: 'bodies of 1 MiB', perMinute: 10, send: post('/v1/audit/log', () => LARGE) },
    { name: 'delegations on the deepest level', perMinute: 10, send: delegate },
    { name: 'authorization requests at the quota', perMinute: 8, send: request },
    { name: 'lists of 500 events', perMinute: 6, send: get('/v1/events?limit=500') },
    { name: 'lists of 500 grants', perMinute: 6, send: get('/v1/grants?limit=500') },
    { name: 'streams, not read', perMinute: 6, send: stream, reads: 'none' },
    { name: 'revocations of a tree', perMinute: 1, send: revoke },
    { name: 'exports of all entries', perMinute: 4, send: entries, reads: 'to the end' },
    { name: 'exports of all entries, not read', perMinute: 2, send: entries, reads: 'none' },
    { name: 'evidence packs', perMinute: 2, send: pack, reads: 'to the end' },
    { name: 'SCIM searches without an index', perMinute: 600, send: search },
    { name: `SCIM bulks of ${BULK} people`, perMinute: 6, send: bulk },
    { name: 'polls for signals', perMinute: 120, send: poll },
    { name: 'bodies that never end, without a key', perMinute: 150, send: unfinished },
  ];
}

/** Sends all but the last byte of a body, by routes that ask for no key. */
function unfinished(count: number): string {
  const path = count % 5 === 0 ? '/v1/signup' : '/v1/consent/areq_1/session';
  const head = [`POST ${path} HTTP/1.1`, 'host: localhost', 'content-type: application/json'];
  return [...head, `content-length: ${BODY}`, '', ' '.repeat(BODY - 1)].join('\r\n');
}

let attacker: Attacker | undefined;

process.on('message', async (message: { prepare: number } | { attack: number; seconds: number }) => {
  if ('prepare' in message) {
    attacker = await prepare(message.prepare);
    process.send?.(`The neighbour has ${attacker.words}.`);
  } else if (attacker) {
    process.send?.(JSON.stringify(await attack(attacker, message.attack, message.seconds)));
  }
});
process.once('disconnect', () => process.exit());

/** The account of the neighbour, as large as the plan allows. */
export interface Attacker extends Tenant {
  /** The roots of deep trees. */
  readonly trees: readonly string[];
  /** The token at the bottom of a further tree, one level above the deepest. */
  readonly deepToken: string;
  /** The token of an identity provider. */
  readonly scimToken: string;
  /** Where a receiver polls for signals, which nobody acknowledges. */
  readonly signals: { readonly path: string; readonly token: string };
  readonly words: string;
  /** Attempts of webhooks that its server took and never answered. */
  readonly unanswered: () => number;
}

// All that the plan allows, and the entries of one hour.
const ENTRIES = 2000;
const AGENTS = 480;
const TREES = 5;
const WIDTH = 180; // grants on the deepest level of a tree
const OPEN_REQUESTS = 99;
const WEBHOOKS = 30;
const GRANTED = 20;
const PEOPLE = 4000;
const PEOPLE_TOGETHER = 250; // 2,750 of the 10,000 members that a body may have
const DEPTH = 9; // delegations; one more is allowed

/** 16 KiB as the database keeps it: many small values, or digits that the request did not have. */
const METADATA = [
  { values: Array.from({ length: 980 }, () => ({})), text: 'x'.repeat(13_000) },
  { values: Array.from({ length: 49 }, () => 5e-324) },
] as const;

/** @param port where a server without limits listens */
export async function prepare(port: number): Promise<Attacker> {
  const tenant = await signUp(port, GRANTED);
  const { apiKey } = tenant;
  const post = async (client: Client, path: string, body: object) =>
    JSON.parse((await demand(client, { method: 'POST', path, body, apiKey }, 201)).toString());
  const many = (count: number, path: string, bodyOf: (each: number) => object) =>
    inTurns(port, count, (client, each) => post(client, path, bodyOf(each)));

  const client = await openClient(port);
  const signals = await pollStream(client, apiKey);
  const { token: scimToken } = await post(client, '/v1/scim/tokens', { label: 'Directory' });
  for (let from = 0; from < PEOPLE; from += PEOPLE_TOGETHER) {
    const body = bulkOf(PEOPLE_TOGETHER, `from-${from}`);
    await demand(client, { method: 'POST', path: '/scim/v2/Bulk', body, apiKey: scimToken }, 200);
  }
  const dig = async (tree: number): Promise<string> => {
    let token = heldBy(tenant, tree).grantToken;
    for (let level = 1; level <= DEPTH; level += 1) {
      const answer = await post(client, '/v1/grants/delegate', delegation(token, tenant, tree + level));
      token = answer.grantToken;
    }
    return token;
  };
  for (let tree = 0; tree < TREES; tree += 1) {
    const token = await dig(tree);
    await many(WIDTH, '/v1/grants/delegate', () => delegation(token, tenant, tree + DEPTH + 1));
  }
  const deepToken = await dig(TREES);
  client.close();
  await many(AGENTS, '/v1/agents', (each) => ({ name: `Agent ${each}` }));
  await many(ENTRIES, '/v1/audit/log', (each) => entryOf(tenant, each));
  await many(OPEN_REQUESTS, '/v1/authorize', (each) => ({ agentId: heldBy(tenant, each).agentId, ...asked }));

  const silent = createServer((socket) => {
    attempts += 1;
    socket.resume().on('error', () => {});
  });
  let attempts = 0;
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const address = silent.address();
  const host = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  await many(WEBHOOKS, '/v1/webhooks', (each) => ({ url: `${host}/${each}`, events: ['*'] }));
  const words = `${ENTRIES} entries of 16 KiB, ${TREES} trees of ${WIDTH + DEPTH} delegations, ${WEBHOOKS} webhooks, ${PEOPLE} people`;
  const trees = tenant.grants.slice(0, TREES).map(({ grantId }) => grantId);
  return { ...tenant, trees, deepToken, scimToken, signals, words, unanswered: () => attempts };
}

/** @param each the number of the agent that gets the grant; an agent above it would only narrow */
export function delegation(parentGrantToken: string, tenant: Tenant, each: number) {
  const { agentId } = heldBy(tenant, each);
  return { parentGrantToken, subAgentId: agentId, scopes: asked.scopes, expiresIn: '1d' };
}

export function entryOf(tenant: Tenant, each: number) {
  const { agentId, agentDid, grantId } = heldBy(tenant, each);
  const about = { agentId, agentDid, grantId, principalId: asked.principalId };
  return { ...about, action: 'email.sent', metadata: METADATA[each % METADATA.length] };
}

/** A request of SCIM that makes people, or is refused for those that are there already. */
export function bulkOf(count: number, name: string) {
  const Operations = Array.from({ length: count }, (_, each) => ({
    method: 'POST',
    path: '/Users',
    bulkId: `b${each}`,
    data: {
      userName: `${name}-${each}@acme.test`,
      name: { givenName: 'Ada', familyName: `King ${each}` },
      emails: [{ value: `${name}-${each}@acme.test`, type: 'work' }],
    },
  }));
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'], Operations };
}

/** Registers a receiver with a stream that it polls. */
async function pollStream(client: Client, apiKey: string): Promise<Attacker['signals']> {
  const made = {
    method: 'POST',
    path: '/v1/ssf/receivers',
    apiKey,
    body: { name: 'SIEM', staticToken: true },
  };
  const { accessToken: token } = JSON.parse((await demand(client, made, 201)).toString());
  const stream = { method: 'POST', path: '/ssf/streams', apiKey: token, body: {} };
  const { stream_id } = JSON.parse((await demand(client, stream, 201)).toString());
  return { path: `/ssf/poll/${stream_id}`, token };
}

/** Eight at a time. */
async function inTurns(
  port: number,
  count: number,
  work: (client: Client, each: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const loops = Array.from({ length: 8 }, async () => {
    const client = await openClient(port);
    while (next < count) {
      next += 1;
      await work(client, next);
    }
    client.close();
  });
  await Promise.all(loops);
}
