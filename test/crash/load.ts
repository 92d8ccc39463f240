import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { createLocalJWKSet, jwtVerify } from 'jose';

/** Everything that the service acknowledged, and therefore must still hold after any crash. */
export interface Acknowledged {
  readonly grants: Set<string>;
  readonly revoked: Set<string>;
  /** The hash that the service answered for each entry, by the entry's id. */
  readonly entries: Map<string, string>;
  /** The amount of each debit, and of each refund below zero, by the id of its transaction. */
  readonly movements: Map<string, string>;
  /** The ids of the calls that a batch of evaluations permitted. */
  readonly permits: Set<string>;
  /** The number of batches without an answer that nobody sends again. */
  cutOff: number;
  /** Entries, debits and batches without an answer, by their `Idempotency-Key`, which is in their metadata too. */
  readonly unanswered: Map<string, Repeatable>;
  /** The number of those that were sent again after a crash and then answered. */
  repeated: number;
}

interface Repeatable {
  readonly path: '/v1/audit/log' | '/v1/budget/debit' | '/access/v1/evaluations';
  readonly body: { readonly metadata: { readonly call: string } };
}

export interface FundedAccount extends Account {
  /** A grant with a budget, which all clients debit. */
  readonly fundedGrantId: string;
  readonly metered: Metered;
}

/** One client that grants, revokes, evaluates, appends, debits and refunds until it is stopped, and remembers every answer. */
export async function work(account: FundedAccount, done: Acknowledged, signal: AbortSignal): Promise<void> {
  let own: { grantId: string; entry: object } | undefined;
  while (!signal.aborted) {
    if (!own || randomInt(5) === 0) own = (await grant(account, done)) ?? own;
    else if (randomInt(4) === 0) {
      const { grantId } = own;
      own = undefined;
      if ((await ask(account, 'DELETE', `/v1/grants/${grantId}`))?.status === 204) done.revoked.add(grantId);
    } else if (randomInt(3) === 0) {
      if (!(await evaluate(account, done))) await pause(5);
    } else if (randomInt(2) === 0) {
      const spent = await spend(account, done);
      if (spent && randomInt(4) === 0) await refund(account, done, spent);
      if (!spent) await pause(5);
    } else if (!(await append(account, done, own.entry))) await pause(5);
  }
}

/** Sends a request, half of the time with an `Idempotency-Key`, by which it can be sent again. */
async function sendOnce(account: Account, done: Acknowledged, { path, body }: Repeatable) {
  const { call } = body.metadata;
  const key = randomInt(2) === 0 ? call : undefined;
  const answer = await ask(account, 'POST', path, body, key);
  if (answer) acknowledge(done, { path, body }, answer);
  else if (key) done.unanswered.set(key, { path, body });
  else if (path === '/access/v1/evaluations') done.cutOff += 1;
  return answer;
}

/** @returns whether the request succeeded */
function acknowledge(
  done: Acknowledged,
  { path, body }: Repeatable,
  answer: NonNullable<Awaited<ReturnType<typeof ask>>>,
): boolean {
  if (answer.status >= 300) return false;
  if (path === '/v1/audit/log') done.entries.set(answer.body.entryId, answer.body.hash);
  else if (path === '/v1/budget/debit') done.movements.set(answer.body.transactionId, amountOf(body));
  else for (const id of permittedIn(answer.body)) done.permits.add(id);
  return true;
}

interface Evaluated {
  readonly evaluations: readonly {
    readonly decision: boolean;
    readonly context: { readonly call_id: string };
  }[];
}

const permittedIn = ({ evaluations }: Evaluated) =>
  evaluations.filter(({ decision }) => decision).map(({ context }) => context.call_id);

const amountOf = (body: object) => ('amount' in body ? String(body.amount) : '');

async function append(account: Account, done: Acknowledged, about: object): Promise<boolean> {
  const body = { ...about, metadata: { call: randomUUID() } };
  return (await sendOnce(account, done, { path: '/v1/audit/log', body }))?.status === 201;
}

/** Asks about three mails at once. @returns whether it was answered */
export async function evaluate(account: FundedAccount, done: Acknowledged): Promise<boolean> {
  const body = { ...batchAbout(account.metered), metadata: { call: randomUUID() } };
  return (await sendOnce(account, done, { path: '/access/v1/evaluations', body }))?.status === 200;
}

/** Debits the budget that all clients share. @returns the id of the transaction, if it was answered */
async function spend(account: FundedAccount, done: Acknowledged): Promise<string | undefined> {
  const amount = (randomInt(1, 100_000) / 10_000).toFixed(4);
  const body = { grantId: account.fundedGrantId, amount, metadata: { call: randomUUID() } };
  const answer = await sendOnce(account, done, { path: '/v1/budget/debit', body });
  return answer?.body.transactionId;
}

async function refund(account: Account, done: Acknowledged, transactionId: string): Promise<void> {
  const answer = await ask(account, 'POST', '/v1/budget/refund', { transactionId });
  if (answer?.status === 200) done.movements.set(answer.body.transactionId, `-${answer.body.amount}`);
}

/** Sends again what had no answer. Postgres may take a moment to see that the first request's process is gone. */
export async function repeatUnanswered(account: Account, done: Acknowledged): Promise<void> {
  for (const [call, { path, body }] of done.unanswered) {
    const answer = await ask(account, 'POST', path, body, call);
    if (!answer || !acknowledge(done, { path, body }, answer)) continue;
    done.unanswered.delete(call);
    done.repeated += 1;
  }
}

/** Makes a grant with a budget that no run spends. @returns its id */
export async function fund(account: Account): Promise<string> {
  const agent = await ask(account, 'POST', '/v1/agents', { name: 'Spender' });
  const agentId = agent?.body.agentId;
  const asked = { agentId, principalId: 'user_42', scopes: ['flights:book'], budget: { amount: BUDGET } };
  const request = await ask(account, 'POST', '/v1/authorize', asked);
  const issued = await ask(account, 'POST', '/v1/token', { agentId, code: request?.body.code });
  if (issued?.status !== 201) throw new Error(`The budget was answered ${issued?.status}.`);
  return issued.body.grantId;
}

export const BUDGET = '100000000';

async function grant(account: Account, done: Acknowledged) {
  const agent = await ask(account, 'POST', '/v1/agents', { name: 'Crash tester' });
  if (agent?.status !== 201) return pause(5).then(() => undefined);
  const { agentId, did: agentDid } = agent.body;
  const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
  const request = await ask(account, 'POST', '/v1/authorize', asked);
  if (request?.status !== 201) return undefined;
  const issued = await ask(account, 'POST', '/v1/token', { agentId, code: request.body.code });
  if (issued?.status !== 201) return undefined;
  const { grantId } = issued.body;
  done.grants.add(grantId);
  return { grantId, entry: { agentId, agentDid, grantId, principalId: 'user_42', action: 'flight.booked' } };
}

export const CONNECTOR = 'mail';
export const TOOL = 'send';
const PER_DAY = 1_000_000_000; // no run uses it up

/** A grant with a cap, which all clients use. */
interface Metered {
  readonly grantId: string;
  readonly tokenId: string;
}

/** Makes a grant with a cap, which all clients ask about. */
export async function meterMails(account: Account): Promise<Metered> {
  const tools = { [TOOL]: { permission: 'write', caps: { per_day: PER_DAY } } };
  const manifest = { $schema: 'x', connector: CONNECTOR, version: '1', tools };
  await ask(account, 'PUT', `/v1/manifests/${CONNECTOR}`, manifest);
  const agent = await ask(account, 'POST', '/v1/agents', { name: 'Mailer' });
  const agentId = agent?.body.agentId;
  const asked = { agentId, principalId: 'user_42', scopes: [`tool:${CONNECTOR}:write`] };
  const request = await ask(account, 'POST', '/v1/authorize', asked);
  const issued = await ask(account, 'POST', '/v1/token', { agentId, code: request?.body.code });
  if (issued?.status !== 201) throw new Error(`The grant with a cap was answered ${issued?.status}.`);
  const { grantId, grantToken } = issued.body;
  const claims = JSON.parse(Buffer.from(String(grantToken).split('.')[1] ?? '', 'base64url').toString());
  return { grantId, tokenId: claims.jti };
}

/** Three questions of AuthZEN, each of which takes a unit. */
const batchAbout = ({ tokenId }: Metered) => ({
  subject: { type: 'token', id: tokenId },
  action: { name: TOOL },
  resource: { type: 'connector', id: CONNECTOR },
  evaluations: [{}, {}, {}],
});

export interface Account {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** Sends a request. @returns undefined when the service went away before it answered */
export async function ask(
  { baseUrl, apiKey }: Account,
  method: string,
  path: string,
  body?: object,
  idempotencyKey?: string,
) {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(body && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
  try {
    const answer = await fetch(baseUrl + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
  } catch {
    return undefined;
  }
}

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
