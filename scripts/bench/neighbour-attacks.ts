import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { openClient, type SentRequest, textOf } from './client.ts';
import { type Attacker, bulkOf, delegation, entryOf, prepare } from './neighbour-account.ts';
import { asked, heldBy, turnOf } from './tenants.ts';

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
