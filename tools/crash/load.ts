import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** Everything that the service acknowledged, and therefore must still hold after any crash. */
export interface Acknowledged {
  readonly grants: Set<string>;
  readonly revoked: Set<string>;
  /** The hash that the service answered for each entry, by the entry's id. */
  readonly entries: Map<string, string>;
  /** The amount of each debit, and of each refund below zero, by the id of its transaction. */
  readonly movements: Map<string, string>;
  /** Entries and debits without an answer, by their `Idempotency-Key`, which is in their metadata too. */
  readonly unanswered: Map<string, Repeatable>;
  /** The number of those that were sent again after a crash and then answered. */
  repeated: number;
}

interface Repeatable {
  readonly path: '/v1/audit/log' | '/v1/budget/debit';
  readonly body: { readonly metadata: { readonly call: string } };
}

export interface Account {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface FundedAccount extends Account {
  /** A grant with a budget, which all clients debit. */
  readonly fundedGrantId: string;
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

/** One client that grants, revokes, appends, debits and refunds until it is stopped, and remembers every answer. */
export async function work(account: FundedAccount, done: Acknowledged, signal: AbortSignal): Promise<void> {
  let own: { grantId: string; entry: object } | undefined;
  while (!signal.aborted) {
    if (!own || randomInt(5) === 0) own = (await grant(account, done)) ?? own;
    else if (randomInt(4) === 0) {
      const { grantId } = own;
      own = undefined;
      if ((await ask(account, 'DELETE', `/v1/grants/${grantId}`))?.status === 204) done.revoked.add(grantId);
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
  else done.movements.set(answer.body.transactionId, amountOf(body));
  return true;
}

const amountOf = (body: object) => ('amount' in body ? String(body.amount) : '');

async function append(account: Account, done: Acknowledged, about: object): Promise<boolean> {
  const body = { ...about, metadata: { call: randomUUID() } };
  return (await sendOnce(account, done, { path: '/v1/audit/log', body }))?.status === 201;
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
