import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { type Account, type Acknowledged, ask } from './load.ts';

const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
const PUSH = 'urn:ietf:rfc:8935';

/** A receiver of signals with a stream that is pushed to it, and one that it polls. */
interface Listening {
  readonly accessToken: string;
  readonly audience: string;
  readonly polledStreamId: string;
}

/** Registers a receiver that hears of each grant that is revoked, twice. */
export async function listenForRevocations(account: Account, pushUrl: string): Promise<Listening> {
  const made = await ask(account, 'POST', '/v1/ssf/receivers', { name: 'Crash', staticToken: true });
  if (made?.status !== 201) throw new Error(`The receiver of signals was answered ${made?.status}.`);
  const { accessToken, audience } = made.body;
  const receiver = { ...account, apiKey: accessToken };
  const delivery = { method: PUSH, endpoint_url: pushUrl };
  const events_requested = [REVOKED];
  const pushed = await ask(receiver, 'POST', '/ssf/streams', { delivery, events_requested });
  const polled = await ask(receiver, 'POST', '/ssf/streams', { events_requested });
  if (pushed?.status !== 201 || polled?.status !== 201) {
    throw new Error(`The streams were answered ${pushed?.status} and ${polled?.status}.`);
  }
  return { accessToken, audience, polledStreamId: polled.body.stream_id };
}

/**
 * Polls through every restart, waiting half of the time, and acknowledges what it has kept. An answer that a kill cut off is
 * neither kept nor acknowledged.
 * @param whereNow the account at the address that the service has now
 * @param polled gets the signals
 */
export async function pollSignals(
  whereNow: () => Account,
  { accessToken, polledStreamId }: Listening,
  polled: string[],
  signal: AbortSignal,
): Promise<void> {
  let ack: string[] = [];
  while (!signal.aborted) {
    const body = { ack, returnImmediately: randomInt(2) === 0, maxEvents: 10 };
    const account = { ...whereNow(), apiKey: accessToken };
    const answer = await ask(account, 'POST', `/ssf/poll/${polledStreamId}`, body);
    if (answer?.status !== 200) {
      await pause(20);
      continue;
    }
    const sets: Record<string, string> = answer.body.sets;
    ack = Object.keys(sets);
    polled.push(...Object.values(sets));
    if (ack.length === 0) await pause(20); // the next answer may be at once
  }
}

/** Checks that each stream had each revocation at least once, and no signal of a grant that goes on. */
export async function brokenSignals(
  account: Account,
  { revoked }: Acknowledged,
  { audience }: Listening,
  streams: Readonly<Record<'pushed' | 'polled', readonly string[]>>,
): Promise<string[]> {
  const keys = createLocalJWKSet((await ask(account, 'GET', '/.well-known/jwks.json'))?.body);
  const broken: string[] = [];
  const told = new Set<string>();
  for (const [way, sets] of Object.entries(streams)) {
    const heard = new Set<string>();
    for (const set of sets) {
      const verified = await jwtVerify(set, keys, { audience, typ: 'secevent+jwt' }).catch(() => undefined);
      const id = Object(verified?.payload.sub_id).session?.id;
      if (typeof id === 'string') heard.add(id);
      else broken.push(`a signal that was ${way} cannot be verified`);
    }
    for (const id of revoked) {
      if (!heard.has(id)) broken.push(`the signal of the revoked grant ${id} was not ${way}`);
    }
    for (const id of heard) told.add(id);
  }
  for (const id of told) {
    const grant = revoked.has(id) ? undefined : await ask(account, 'GET', `/v1/grants/${id}`);
    if (grant && grant.body.status !== 'revoked')
      broken.push(`a signal ended the grant ${id}, which goes on`);
  }
  return broken;
}

const SIGNALS = '/signals';

/** Receives webhooks, and keeps the text of each delivery, by event. Signals have an address of their own. */
export async function startReceiver() {
  const received = new Map<string, string[]>();
  const pushed: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if (request.url === SIGNALS) {
      pushed.push(text);
      response.writeHead(202).end(); // RFC 8935 §2.2
      return;
    }
    const id = String(request.headers['webhook-id']);
    received.set(id, [...(received.get(id) ?? []), text]);
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
  };
  const origin = `http://127.0.0.1:${port}`;
  return { url: `${origin}/hooks`, received, signalsUrl: origin + SIGNALS, pushed, stop };
}
