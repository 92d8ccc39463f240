import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** Everything that the service acknowledged, and therefore must still hold after any crash. */
export interface Acknowledged {
  readonly grants: Set<string>;
  readonly revoked: Set<string>;
  /** The hash that the service answered for each entry, by the entry's id. */
  readonly entries: Map<string, string>;
  /** Entries without an answer, by their `Idempotency-Key`, which is in their metadata too. */
  readonly unanswered: Map<string, object>;
  /** The number of entries that were sent again after a crash and then answered. */
  repeated: number;
}

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

/** One client that grants, revokes and appends until it is stopped, and remembers every answer. */
export async function work(account: Account, done: Acknowledged, signal: AbortSignal): Promise<void> {
  let own: { grantId: string; entry: object } | undefined;
  while (!signal.aborted) {
    if (!own || randomInt(4) === 0) own = (await grant(account, done)) ?? own;
    else if (randomInt(3) === 0) {
      const { grantId } = own;
      own = undefined;
      if ((await ask(account, 'DELETE', `/v1/grants/${grantId}`))?.status === 204) done.revoked.add(grantId);
    } else if (!(await append(account, done, own.entry))) await pause(5);
  }
}

/** Half of the entries have an `Idempotency-Key`, and can be sent again. */
async function append(account: Account, done: Acknowledged, about: object): Promise<boolean> {
  const call = randomUUID();
  const entry = { ...about, metadata: { call } };
  const key = randomInt(2) === 0 ? call : undefined;
  const appended = await ask(account, 'POST', '/v1/audit/log', entry, key);
  if (appended?.status === 201) done.entries.set(appended.body.entryId, appended.body.hash);
  else if (!appended && key) done.unanswered.set(key, entry);
  return appended?.status === 201;
}

/** Sends again what had no answer. Postgres may take a moment to see that the first request's process is gone. */
export async function repeatUnanswered(account: Account, done: Acknowledged): Promise<void> {
  for (const [call, entry] of done.unanswered) {
    const answer = await ask(account, 'POST', '/v1/audit/log', entry, call);
    if (answer?.status !== 201) continue;
    done.entries.set(answer.body.entryId, answer.body.hash);
    done.unanswered.delete(call);
    done.repeated += 1;
  }
}

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
