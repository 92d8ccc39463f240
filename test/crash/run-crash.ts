import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { waitUntil } from '../../scripts/machine/folders.ts';
import { type Server, startServer } from '../harness/servers.ts';
import {
  type Account,
  type Acknowledged,
  ask,
  BUDGET,
  brokenSignals,
  CONNECTOR,
  evaluate,
  type FundedAccount,
  fund,
  listenForRevocations,
  meterMails,
  pollSignals,
  repeatUnanswered,
  startReceiver,
  TOOL,
  work,
} from './load.ts';

export interface CrashPlan {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly rounds: number;
  /** The folder of the server's log. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

const CLIENTS = 6;
/** Milliseconds of load before the kill. */
const KILLED_WITHIN = 600;

/**
 * Kills the server at a random moment under load, starts it again, and repeats this. At the end it compares the
 * stored state with the acknowledged state.
 * @returns the acknowledged state, and every broken promise
 */
export async function crash({ databaseUrl, redisUrl, rounds, folder, say }: CrashPlan) {
  await using cleanUp = new AsyncDisposableStack();
  const receiver = cleanUp.adopt(await startReceiver(), ({ stop }) => stop());
  const env = {
    WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true',
    PLAN_FREE_WEBHOOKS: 'unlimited',
    RATE_LIMIT_SSF: '1000000000',
  };
  const start = () => startServer({ databaseUrl, redisUrl }, { folder, env });
  const done: Acknowledged = {
    grants: new Set(),
    revoked: new Set(),
    entries: new Map(),
    movements: new Map(),
    permits: new Set(),
    cutOff: 0,
    unanswered: new Map(),
    repeated: 0,
  };

  let server = await start();
  cleanUp.defer(() => server.stop());
  const apiKey = await signUp(server);
  const fundedGrantId = await fund({ baseUrl: baseUrlOf(server), apiKey });
  const metered = await meterMails({ baseUrl: baseUrlOf(server), apiKey });
  const accountOf = (at: Server): FundedAccount => ({
    baseUrl: baseUrlOf(at),
    apiKey,
    fundedGrantId,
    metered,
  });
  const hook = await ask(accountOf(server), 'POST', '/v1/webhooks', {
    url: receiver.url,
    events: ['*', 'budget.debited'],
  });
  if (hook?.status !== 201) throw new Error(`The webhook was answered ${hook?.status}.`);
  const listening = await listenForRevocations(accountOf(server), receiver.signalsUrl);
  const polled: string[] = [];
  const ending = new AbortController();
  cleanUp.defer(() => ending.abort());
  void pollSignals(() => accountOf(server), listening, polled, ending.signal); // the stop of the server ends its last poll

  const broken: string[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await oneRound(server, accountOf(server), done, round % 4 === 0);
    if (round === rounds) await endLeases(databaseUrl);
    server = await start();
    await waitUntil(() => isAnswered(accountOf(server), done), { seconds: 30 });
    broken.push(...(await brokenLedger(accountOf(server))));
    if (round % 20 === 0) say(`${round} of ${rounds} kills; ${done.entries.size} entries acknowledged`);
  }
  const account = accountOf(server);
  // A short run may have revoked nothing, and asked nothing.
  await revokeOne(account, done);
  await evaluate(account, done);
  await drain(databaseUrl);
  broken.push(
    ...(await brokenGrants(account, done)),
    ...(await brokenChain(account, done)),
    ...(await brokenBudget(account, done)),
    ...(await brokenCaps(account, done)),
    ...(await brokenEvents(databaseUrl, receiver.received)),
    ...(await brokenSignals(account, done, listening, { pushed: receiver.pushed, polled })),
  );
  const events = receiver.received.size;
  const sendings = [...receiver.received.values()].reduce((sum, each) => sum + each.length, 0);
  const { grants, revoked, entries, movements, permits, repeated } = done;
  const sizes = { grants: grants.size, revoked: revoked.size, entries: entries.size };
  const counts = { ...sizes, movements: movements.size, permits: permits.size, repeated };
  const signals = { pushed: receiver.pushed.length, polled: polled.length };
  return { ...counts, events, sendings, signals, broken };
}

async function isAnswered(account: Account, done: Acknowledged): Promise<boolean> {
  await repeatUnanswered(account, done);
  return done.unanswered.size === 0;
}

/** One round in four begins at the start of the server, the others at the first answer to a write. */
async function oneRound(server: Server, account: FundedAccount, done: Acknowledged, isEarly: boolean) {
  const ending = new AbortController();
  const before = sizeOf(done);
  const clients = Array.from({ length: CLIENTS }, () => work(account, done, ending.signal));
  if (!isEarly) await waitUntil(async () => sizeOf(done) > before, { seconds: 30 });
  await pause(randomInt(KILLED_WITHIN));
  await server.kill();
  ending.abort();
  await Promise.all(clients);
}

const sizeOf = ({ grants, revoked, entries, movements, permits }: Acknowledged) =>
  grants.size + revoked.size + entries.size + movements.size + permits.size;

async function revokeOne(account: Account, { grants, revoked }: Acknowledged): Promise<void> {
  const [id] = [...grants].filter((one) => !revoked.has(one));
  if (id && (await ask(account, 'DELETE', `/v1/grants/${id}`))?.status === 204) revoked.add(id);
}

const baseUrlOf = ({ port }: Server) => `http://127.0.0.1:${port}`;

async function signUp(server: Server): Promise<string> {
  const account = { baseUrl: baseUrlOf(server), apiKey: 'none' };
  const made = await ask(account, 'POST', '/v1/signup', { name: 'Crash', mode: 'sandbox' });
  return String(made?.body.apiKey);
}

/** Ends the leases of killed processes, so that the run need not wait a minute for them. */
async function endLeases(databaseUrl: string): Promise<void> {
  await using db = await connected(databaseUrl);
  await db.query('update webhook_deliveries set leased_until = null where leased_until is not null');
}

async function drain(databaseUrl: string): Promise<void> {
  await using db = await connected(databaseUrl);
  const isDrained = async () => {
    const { rows } = await db.query("select from webhook_deliveries where status = 'pending' limit 1");
    return rows.length === 0;
  };
  await waitUntil(isDrained, { seconds: 120 });
}

/** Checks that every event was sent at least once with its text, and that nothing else was sent. */
async function brokenEvents(databaseUrl: string, received: ReadonlyMap<string, string[]>): Promise<string[]> {
  await using db = await connected(databaseUrl);
  const { rows } = await db.query<{ id: string; envelope: string }>(
    "select id, envelope from outbox_events where seq >= (select min(seq) from outbox_events where type = 'webhook.created')",
  );
  const written = new Map(rows.map(({ id, envelope }) => [id, envelope]));
  const unsent = rows.filter(({ id }) => !received.has(id)).map(({ id }) => `event ${id} was not delivered`);
  const invented = [...received].flatMap(([id, bodies]) =>
    bodies.filter((body) => body !== written.get(id)).map(() => `event ${id} was sent as it was not written`),
  );
  return [...unsent, ...invented];
}

async function connected(connectionString: string) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** The grants that are not as the service acknowledged them. */
export async function brokenGrants(account: Account, { grants, revoked }: Acknowledged): Promise<string[]> {
  const broken: string[] = [];
  for (const id of grants) {
    const grant = await ask(account, 'GET', `/v1/grants/${id}`);
    if (grant?.status !== 200) broken.push(`grant ${id} is lost`);
    else if (revoked.has(id) && grant.body.status !== 'revoked') broken.push(`grant ${id} is alive again`);
  }
  return broken;
}

interface Page {
  readonly entries: readonly {
    readonly entryId: string;
    readonly hash: string;
    readonly metadata: { readonly call?: string };
  }[];
  readonly nextCursor: string | null;
}

/** The entries that are lost, or written twice, and the fault of the chain. */
export async function brokenChain(account: Account, { entries }: Acknowledged): Promise<string[]> {
  const kept = new Map<string, string>();
  const effects = new Map<string, number>();
  // The service's own work writes entries meanwhile, so the chain is counted before and after.
  const earlier = Number((await ask(account, 'GET', '/v1/audit/verify'))?.body.checkedEntries);
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/v1/audit/entries?limit=500${cursor && `&cursor=${cursor}`}`;
    const page: Page = (await ask(account, 'GET', path))?.body;
    for (const { entryId, hash, metadata } of page.entries) {
      kept.set(entryId, hash);
      const { call } = metadata;
      if (call !== undefined) effects.set(call, (effects.get(call) ?? 0) + 1);
    }
    cursor = page.nextCursor;
  }
  const lost = [...entries]
    .filter(([id, hash]) => kept.get(id) !== hash)
    .map(([id]) => `entry ${id} is lost`);
  const doubled = [...effects].filter(([, times]) => times > 1).map(([call]) => `call ${call} acted twice`);
  const verdict = (await ask(account, 'GET', '/v1/audit/verify'))?.body;
  const isCounted = earlier <= kept.size && kept.size <= Number(verdict?.checkedEntries);
  const isWhole = verdict?.valid === true && isCounted;
  const faults = [...lost, ...doubled];
  return isWhole ? faults : [...faults, `the chain is broken: ${JSON.stringify(verdict)}`];
}

interface TransactionPage {
  readonly transactions: readonly {
    readonly id: string;
    readonly amount: string;
    readonly metadata: { readonly call?: string };
  }[];
  readonly nextCursor: string | null;
}

/** The debits and refunds that are lost or made twice, and the faults of the ledger. */
async function brokenBudget(account: FundedAccount, { movements }: Acknowledged): Promise<string[]> {
  const kept = new Map<string, string>();
  const effects = new Map<string, number>();
  const path = `/v1/budget/transactions/${account.fundedGrantId}`;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer = await ask(account, 'GET', `${path}?limit=500${cursor && `&cursor=${cursor}`}`);
    const page: TransactionPage = answer?.body;
    for (const { id, amount, metadata } of page.transactions) {
      kept.set(id, amount);
      const { call } = metadata;
      if (call !== undefined) effects.set(call, (effects.get(call) ?? 0) + 1);
    }
    cursor = page.nextCursor;
  }
  const lost = [...movements]
    .filter(([id, amount]) => kept.get(id) !== amount)
    .map(([id]) => `transaction ${id} is lost`);
  const doubled = [...effects].filter(([, times]) => times > 1).map(([call]) => `call ${call} debited twice`);
  const balance = (await ask(account, 'GET', `/v1/budget/balance/${account.fundedGrantId}`))?.body;
  const spent = [...kept.values()].reduce((sum, amount) => sum + unitsIn(amount), 0n);
  const isExact = unitsIn(`${BUDGET}.0000`) - spent === unitsIn(balance.remainingBudget);
  const faults = [...lost, ...doubled, ...(await brokenLedger(account))];
  return isExact ? faults : [...faults, `the balance is not what the transactions leave: ${spent} spent`];
}

/** The sums of the ledger, as the service adds them up. */
async function brokenLedger(account: Account): Promise<string[]> {
  const verdict = (await ask(account, 'GET', '/v1/budget/verify'))?.body;
  return verdict?.valid === true ? [] : [`the ledger is broken: ${JSON.stringify(verdict)}`];
}

const unitsIn = (amount: string) => BigInt(amount.replace('.', ''));

interface RulingPage {
  readonly entries: readonly { readonly status: string; readonly metadata: { readonly callId?: string } }[];
  readonly nextCursor: string | null;
}

/**
 * The permits that are lost, and the units that nothing explains. Each permit that is recorded has taken a unit, and a batch
 * that a kill cut off may have taken one that is not recorded.
 */
async function brokenCaps(account: FundedAccount, { permits, cutOff }: Acknowledged): Promise<string[]> {
  const recorded = new Set<string | undefined>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/v1/audit/entries?limit=500&action=tool.enforce${cursor && `&cursor=${cursor}`}`;
    const page: RulingPage = (await ask(account, 'GET', path))?.body;
    for (const { status, metadata } of page.entries) {
      if (status === 'success') recorded.add(metadata.callId);
    }
    cursor = page.nextCursor;
  }
  const { grantId } = account.metered;
  const query = `grantId=${grantId}&connector=${CONNECTOR}&tool=${TOOL}`;
  const usage = await ask(account, 'GET', `/v1/enforce/usage?${query}`);
  const used = Number(usage?.body.counters?.[0]?.used);
  const lost = [...permits].filter((id) => !recorded.has(id)).map((id) => `permit ${id} is lost`);
  const isExplained = recorded.size <= used && used <= recorded.size + cutOff;
  if (isExplained) return lost;
  return [
    ...lost,
    `${used} units are taken, by ${recorded.size} permits and ${cutOff} batches that were cut off`,
  ];
}
