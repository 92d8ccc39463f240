import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Account, ask } from '../../test/crash/load.ts';

/** What the service acknowledged. */
export interface Done {
  readonly requests: Set<string>;
  readonly grants: Set<string>;
  readonly revoked: Set<string>;
  /** The hash that the service answered for each entry, by the entry's id. */
  readonly entries: Map<string, string>;
}

/**
 * A request and its end. `refused` is a 503, `closed` a connection that ended without an answer or a 502 of HAProxy, and
 * `lost` a code whose ticket is not there any more, or was spent by an exchange whose answer was lost.
 */
export interface Sent {
  readonly path: string;
  readonly isWrite: boolean;
  readonly begunAt: number;
  readonly endedAt: number;
  readonly outcome: 'done' | 'refused' | 'closed' | 'lost' | 'fault';
}

const STEPS = 5;
const PATIENCE = 60_000; // milliseconds, more than any answer may take

/** Clients that come by the clock, however long those before them take: each authorizes, exchanges, verifies, appends and revokes. */
export class Load {
  readonly sent: Sent[] = [];
  readonly done: Done = { requests: new Set(), grants: new Set(), revoked: new Set(), entries: new Map() };
  readonly faults: string[] = [];
  readonly account: Account;
  readonly #agent: { readonly agentId: string; readonly did: string };
  #isEnding = false;
  #clock: Promise<void> = Promise.resolve();

  private constructor(account: Account, agent: { readonly agentId: string; readonly did: string }) {
    this.account = account;
    this.#agent = agent;
  }

  static async begin(baseUrl: string, rate: number): Promise<Load> {
    const made = await ask({ baseUrl, apiKey: 'none' }, 'POST', '/v1/signup', {
      name: 'Faults',
      mode: 'sandbox',
    });
    const account = { baseUrl, apiKey: String(made?.body.apiKey) };
    const agent = await ask(account, 'POST', '/v1/agents', { name: 'Traveller' });
    if (agent?.status !== 201) throw new Error(`The agent was answered ${agent?.status}.`);
    const load = new Load(account, agent.body);
    load.#clock = load.#run((STEPS * 1000) / rate);
    await pause(3000); // the first plans of each connection
    return load;
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#clock;
  }

  async #run(interval: number): Promise<void> {
    const open = new Set<Promise<void>>();
    for (let next = performance.now(); !this.#isEnding; next += interval) {
      await pause(Math.max(0, next - performance.now()));
      const client = this.#oneClient().finally(() => open.delete(client));
      open.add(client);
    }
    await Promise.all(open);
  }

  async #oneClient(): Promise<void> {
    const { agentId, did: agentDid } = this.#agent;
    const about = { agentId, principalId: 'user_42' };
    const request = await this.#send('POST', '/v1/authorize', { ...about, scopes: ['calendar:read'] });
    if (!request) return;
    this.done.requests.add(String(request.authRequestId));
    const issued = await this.#send('POST', '/v1/token', { agentId, code: request.code });
    if (!issued) return;
    const grantId = String(issued.grantId);
    this.done.grants.add(grantId);
    const verified = await this.#send('POST', '/v1/tokens/verify', { token: issued.grantToken });
    if (verified && verified.valid !== true) this.faults.push(`a good token: ${JSON.stringify(verified)}`);
    const entry = { ...about, agentDid, grantId, action: 'flight.booked', metadata: { call: randomUUID() } };
    const kept = await this.#send('POST', '/v1/audit/log', entry);
    if (kept) this.done.entries.set(String(kept.entryId), String(kept.hash));
    if (!(await this.#send('DELETE', `/v1/grants/${grantId}`))) return;
    this.done.revoked.add(grantId);
    const ended = await this.#send('POST', '/v1/tokens/verify', { token: issued.grantToken });
    if (ended && ended.valid !== false) this.faults.push(`a revoked token: ${JSON.stringify(ended)}`);
  }

  /** @returns the body of a success */
  async #send(
    method: string,
    path: string,
    body?: object,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const begunAt = performance.now();
    const { outcome, answer } = await this.#judged(method, path, body);
    const isWrite = path !== '/v1/tokens/verify';
    this.sent.push({ path, isWrite, begunAt, endedAt: performance.now(), outcome });
    return outcome === 'done' ? answer : undefined;
  }

  async #judged(method: string, path: string, body?: object) {
    const { baseUrl, apiKey } = this.account;
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
    };
    const sending = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    let status = 0;
    let text = '';
    try {
      const response = await fetch(baseUrl + path, { ...sending, signal: AbortSignal.timeout(PATIENCE) });
      status = response.status;
      text = await response.text();
    } catch (error) {
      if (!(error instanceof Error && error.name === 'TimeoutError')) return { outcome: 'closed' } as const;
      this.faults.push(`${method} ${path}: no answer in ${PATIENCE / 1000} s`);
      return { outcome: 'fault' } as const;
    }
    if (status === 502) return { outcome: 'closed' } as const;
    const isOurs = text.startsWith('{');
    const answer = isOurs ? JSON.parse(text) : {};
    const isAway = !isOurs || answer.code === 'SERVICE_UNAVAILABLE';
    if (status === 503 && isAway) return { outcome: 'refused' } as const;
    if (status > 0 && status < 300) return { outcome: 'done', answer } as const;
    if (path === '/v1/token' && status === 400 && /^code_/.test(answer.details?.reason))
      return { outcome: 'lost' } as const;
    this.faults.push(`${method} ${path.replace(/_\w+/, '')}: ${status} ${text.slice(0, 200)}`);
    return { outcome: 'fault' } as const;
  }
}

interface Page {
  readonly entries: readonly {
    readonly entryId: string;
    readonly hash: string;
    readonly action: string;
    readonly grantId: string | null;
    readonly metadata: Readonly<Record<string, unknown>>;
  }[];
  readonly nextCursor: string | null;
}

const VERIFIED = 10_000; // entries in one call

/** @returns each acknowledged act that is not on the audit chain, and the faults of the chain */
export async function missingOnChain(account: Account, done: Done): Promise<string[]> {
  const hashes = new Map<string, string>();
  const acts = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/v1/audit/entries?limit=500${cursor && `&cursor=${cursor}`}`;
    const page: Page = (await ask(account, 'GET', path))?.body;
    for (const { entryId, hash, action, grantId, metadata } of page.entries) {
      hashes.set(entryId, hash);
      acts.add(`${action} ${grantId ?? metadata.authRequestId}`);
      if (metadata.authRequestId !== undefined) acts.add(`${action} ${metadata.authRequestId}`);
    }
    cursor = page.nextCursor;
  }
  const missing = (action: string, ids: Iterable<string>) =>
    [...ids].filter((id) => !acts.has(`${action} ${id}`)).map((id) => `${action} ${id} is not on the chain`);
  const lost = [...done.entries]
    .filter(([id, hash]) => hashes.get(id) !== hash)
    .map(([id]) => `entry ${id} is not on the chain as it was answered`);
  return [
    ...missing('authorization.requested', done.requests),
    ...missing('grant.created', done.grants),
    ...missing('grant.revoked', done.revoked),
    ...lost,
    ...(await brokenParts(account, hashes.size)),
  ];
}

async function brokenParts(account: Account, length: number): Promise<string[]> {
  const broken: string[] = [];
  for (let from = 1; from <= length; from += VERIFIED) {
    const to = Math.min(length, from + VERIFIED - 1);
    const answer = await ask(account, 'GET', `/v1/audit/verify?fromSeq=${from}&toSeq=${to}`);
    const { valid, checkedEntries } = answer?.body ?? {};
    if (valid === true && Number(checkedEntries) === to - from + 1) continue;
    broken.push(`the chain is broken between ${from} and ${to}: ${JSON.stringify(answer?.body)}`);
  }
  return broken;
}
