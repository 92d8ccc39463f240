import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { waitUntil } from '../../scripts/machine/processes.ts';
import { type Server, startServer } from '../harness/servers.ts';
import { brokenBudget, brokenCaps, brokenChain, brokenGrants, brokenLedger } from './broken.ts';
import {
  type Account,
  type Acknowledged,
  ask,
  evaluate,
  type FundedAccount,
  fund,
  meterMails,
  repeatUnanswered,
  work,
} from './load.ts';
import { brokenSignals, listenForRevocations, pollSignals, startReceiver } from './signals.ts';

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
