import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Account, type Acknowledged, ask } from '../../../../test/crash/load.ts';

/** Everything that the service acknowledged during a fail-over, and each answer that it may not give. */
export interface Seen extends Acknowledged {
  /** Tokens of grants whose revocation was acknowledged. */
  readonly ended: string[];
  /** How often the service refused for the sake of each dependency. */
  readonly refusals: Map<string, number>;
  readonly faults: string[];
  /** The longest wait for an answer, in milliseconds. */
  slowest: number;
}

export const nothingSeen = (): Seen => ({
  grants: new Set(),
  revoked: new Set(),
  entries: new Map(),
  movements: new Map(),
  permits: new Set(),
  cutOff: 0,
  unanswered: new Map(),
  repeated: 0,
  ended: [],
  refusals: new Map(),
  faults: [],
  slowest: 0,
});

/** The answers that a client without a fault of its own has to expect while a store is replaced. */
const TRUTHFUL = new Set([
  '503 SERVICE_UNAVAILABLE db',
  '503 SERVICE_UNAVAILABLE redis',
  '400 INVALID_GRANT code_unknown', // the replica of Redis may lack the last codes
  '400 INVALID_GRANT code_used', // the exchange before was committed, and its answer lost
]);

export interface Client {
  /** The same developer at each instance. A request goes to any of them. */
  readonly instances: readonly Account[];
  readonly seen: Seen;
  readonly signal: AbortSignal;
}

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/** A client that grants, verifies, revokes and appends until it is stopped, and judges every answer. */
export async function work({ instances, seen, signal }: Client): Promise<void> {
  const send = sender(instances, seen);
  const agent = await send('POST', '/v1/agents', { name: 'Traveller' });
  if (!agent) throw new Error('The load begins before the fail-over.');
  const { agentId, did: agentDid } = agent.body;
  let first: Awaited<ReturnType<typeof exchange>>;
  while (!signal.aborted) {
    const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    const request = await send('POST', '/v1/authorize', asked);
    const issued = request && (await exchange(send, seen, { agentId, code: request.body.code }));
    // The first grant stays, so entries are sent during the fail-over, too.
    first ??= issued;
    if (first) {
      const about = { agentId, agentDid, principalId: 'user_42', action: 'flight.booked' };
      await append(send, seen, { ...about, grantId: first.grantId });
    }
    if (issued && issued !== first) await verifyAndEnd(send, seen, issued);
    await recheck(send, seen);
  }
}

type Send = ReturnType<typeof sender>;

/** @returns a function that sends a request, and returns the answer only if it is a success */
function sender(instances: readonly Account[], seen: Seen) {
  return async (method: string, path: string, body?: object, key?: string): Promise<Answer | undefined> => {
    const begun = performance.now();
    const account = instances[randomInt(instances.length)];
    if (!account) throw new Error('There is no instance.');
    const answer = await ask(account, method, path, body, key);
    seen.slowest = Math.max(seen.slowest, performance.now() - begun);
    if (answer && answer.status < 300) return answer;
    const { code, details } = answer?.body ?? {};
    const refusal = [answer?.status, code, details?.dependency ?? details?.reason].filter(Boolean).join(' ');
    seen.refusals.set(refusal, (seen.refusals.get(refusal) ?? 0) + 1);
    if (!TRUTHFUL.has(refusal))
      seen.faults.push(`${method} ${path.replace(/_\w+/, '')}: ${refusal || 'no answer'}`);
    await pause(20);
    return undefined;
  };
}

/** Sends a code until it is known to be spent, and then once more: it makes one grant at most. */
async function exchange(send: Send, seen: Seen, body: object) {
  const first = await send('POST', '/v1/token', body);
  const again = await send('POST', '/v1/token', body);
  if (first && again) seen.faults.push('a code was exchanged twice');
  const { body: issued } = first ?? again ?? {};
  if (!issued) return undefined;
  const { grantId, grantToken } = issued;
  seen.grants.add(String(grantId));
  return { grantId: String(grantId), token: String(grantToken) };
}

/** Entries to send again, one after the other. */
const MAX_UNANSWERED = 20;

/** Half of the entries have an `Idempotency-Key`, and can be sent again after the fail-over. */
async function append(send: Send, seen: Seen, about: object): Promise<void> {
  const call = randomUUID();
  const isKeyed = seen.unanswered.size < MAX_UNANSWERED && randomInt(2) === 0;
  const key = isKeyed ? call : undefined;
  const entry = { ...about, metadata: { call } };
  const answer = await send('POST', '/v1/audit/log', entry, key);
  if (answer) seen.entries.set(String(answer.body.entryId), String(answer.body.hash));
  else if (key) seen.unanswered.set(key, { path: '/v1/audit/log', body: entry });
}

async function verifyAndEnd(send: Send, seen: Seen, { grantId, token }: { grantId: string; token: string }) {
  const verified = await send('POST', '/v1/tokens/verify', { token });
  if (verified && verified.body.valid !== true)
    seen.faults.push(`a good token: ${JSON.stringify(verified.body)}`);
  if (randomInt(2) === 0 || !(await send('DELETE', `/v1/grants/${grantId}`))) return;
  seen.revoked.add(grantId);
  seen.ended.push(token);
}

/** Verifies one of the tokens that were revoked, at any time before. */
async function recheck(send: Send, { ended, faults }: Seen): Promise<void> {
  if (ended.length === 0) return;
  const answer = await send('POST', '/v1/tokens/verify', { token: ended[randomInt(ended.length)] });
  if (answer && answer.body.reason !== 'revoked')
    faults.push(`a revoked token: ${JSON.stringify(answer.body.valid)}`);
}
