import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runDetection } from '../../src/features/calls/anomalies/detect.ts';
import { type Executor, inTransaction } from '../../src/platform/db/db.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { detect } from '../app/anomalies.ts';
import { authorize, grantTo, registerAgent } from '../app/flow.ts';
import { hotCallsOf } from '../app/hot-calls.ts';
import { type Developer, newDatabase, type Service, startApp } from '../app/start-app.ts';
import { type Explained, openExplained } from './explained.ts';

vi.setConfig({ testTimeout: 300_000 });

/** An account's rows in each of the tables below. */
const FEW = 2000;
const MANY = 100_000;
const GROWN = 20_000;

/** A page of a list has at most a hundred rows, and the walks themselves leave some dozens. */
const ROOM = 150;

type Mode = Parameters<typeof openExplained>[1];
const MODES: readonly Mode[] = ['force_generic_plan', 'force_custom_plan'];

test(`no statement of the request path reads more rows than its answer needs, at 0, ${FEW} and ${MANY} rows of an account, whatever the statistics say`, async () => {
  const databaseUrl = await newDatabase();
  const db = openDatabase({ connectionString: databaseUrl }, 1, undefined, { silence: 120_000 });
  onTestFinished(() => db.destroy());
  const open = async (mode: Mode) => {
    const explained = openExplained(databaseUrl, mode);
    const service = await startApp({ databaseUrl, dbAs: () => explained.db });
    await explained.listen();
    return { ...explained, service };
  };
  await forgetStatistics(db);
  const kept = await open('force_generic_plan');
  const acme = await kept.service.asDeveloper({ mode: 'sandbox' });
  await hotCallsOf(kept.service, acme); // a row of each kind, to be copied
  const needed = new Map((await walk(kept, acme)).map(([name, { rows }]) => [name, rows]));
  expect([...needed.keys()].filter((name) => /^together: .* use_tokens/.test(name))).toHaveLength(1);

  const wasteful: Record<string, readonly string[]> = {};
  const look = async (where: string, which: Awaited<ReturnType<typeof open>>) => {
    for (const [name, { rows, scans }] of await walk(which, acme)) {
      if (rows > (needed.get(name) ?? 0) + ROOM) wasteful[`${where}: ${name}`] = scans;
    }
  };
  await sql`analyze`.execute(db);
  for (const [from, count] of [
    [0, FEW],
    [FEW, MANY],
  ] as const) {
    await fill(db, from, count);
    await look(`${count} rows, plans of the empty tables`, kept);
    const states = {
      'wrong statistics': async () => {}, // those of the size before
      'no statistics': () => forgetStatistics(db),
      statistics: () => sql`analyze`.execute(db),
    };
    for (const [state, make] of Object.entries(states)) {
      await make();
      for (const mode of MODES) await look(`${count} rows, ${state}, ${mode}`, await open(mode));
    }
  }

  expect([...needed.keys()].length).toBeGreaterThan(200);
  expect(wasteful).toEqual({});
});

test('a verification up to the head of a long chain reads no entry before its range', async () => {
  const databaseUrl = await newDatabase();
  const db = openDatabase({ connectionString: databaseUrl }, 1);
  onTestFinished(() => db.destroy());
  const explained = openExplained(databaseUrl, 'force_custom_plan');
  const service = await startApp({ databaseUrl, dbAs: () => explained.db });
  await explained.listen();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await acme('POST', '/v1/agents', { name: 'Traveller' });
  const before = { id: 'one.id || n', seq: '-n' }; // so that the chain from 1 on is whole
  await copyRow(db, 'audit_entries', { from: 0, count: MANY, changed: before });
  await sql`analyze`.execute(db);
  explained.take();

  expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });

  expect(explained.take().filter(({ rows }) => rows > ROOM)).toEqual([]);
});

/** Searches for something rare in a grown account, and what they may read beside their answers. */
const SEARCHES: readonly (readonly [path: string, room: number])[] = [
  ['/v1/authorize?limit=10', 20],
  ['/v1/authorize?agentId=:agent&limit=10', 20],
  ['/v1/authorize?principalId=rare&limit=10', 20],
  ['/v1/authorize?status=denied&limit=10', 3 * 2000 + 20], // of 2,000 requests, whose end is looked for twice
  ['/v1/audit/entries?actor=system&limit=10', 20],
  ['/v1/audit/entries?actor=principal&limit=10', 20],
  ['/v1/audit/entries?requestId=unknown&limit=10', 20],
  ['/v1/audit/entries?denial=region_mismatch&limit=10', 20],
  ['/v1/agents?name=rare&limit=10', 20],
  ['/v1/agents?name=t&limit=10', 50], // both statuses, to be merged
  ['/v1/agents?name=t&limit=10&cursor=:common', 50],
  ['/v1/search?q=rare', 50],
  ['/v1/search?q=user_42', 50],
  ['/v1/search?q=:grant', 50],
  ['/v1/principals?query=r&limit=10', 50],
  ['/v1/principals?query=user&limit=10', 50], // one, with all grants
  ['/v1/principals/rare', 50],
  ['/v1/principals/user_42', 5 * 1001], // each count ends there
  ['/v1/stops/preview?principalId=rare', 50],
  ['/v1/stops/preview?grantId=:grant', 50],
  ['/v1/stops/preview', 3 * 3000], // grants, a step of the tree from each, and requests
];

test('a search reads no more than its answer, or than a page may look at, whatever the statistics say', async () => {
  const databaseUrl = await newDatabase();
  const db = openDatabase({ connectionString: databaseUrl }, 1, undefined, { silence: 120_000 });
  onTestFinished(() => db.destroy());
  const acme = await (await startApp({ databaseUrl, dbAs: () => db })).asDeveloper({ mode: 'sandbox' });
  const { agentId: common } = await registerAgent(acme, 'Traveller');
  await authorize(acme, common, { autoApprove: false });
  await grantTo(acme);
  await acme('POST', '/v1/enforce', { grantToken: 'none', connector: 'crm', tool: 'lookup' });
  await inTransaction(db, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    for (const table of ['agents', 'auth_requests', 'audit_entries', 'grants'])
      await copyRow(tx, table, { from: 0, count: GROWN, changed: CHANGED });
  });
  const { agentId: rare } = await registerAgent(acme, 'Rare');
  await authorize(acme, rare, { principalId: 'rare', autoApprove: false });
  const { grantId: grant } = await grantTo(acme, { principalId: 'rare' });
  const ids: Readonly<Record<string, string>> = { ':agent': rare, ':common': common, ':grant': grant };

  const wasteful: Record<string, readonly string[]> = {};
  for (const state of ['no statistics', 'statistics']) {
    await (state === 'statistics' ? sql`analyze`.execute(db) : forgetStatistics(db));
    for (const mode of MODES) {
      const explained = openExplained(databaseUrl, mode);
      const service = await startApp({ databaseUrl, dbAs: () => explained.db });
      await explained.listen();
      const ask = service.calling(acme.apiKey);
      await ask('GET', '/v1/me');
      for (const [path, room] of SEARCHES) {
        explained.take();
        const answer = await ask(
          'GET',
          path.replace(/:\w+/, (name) => ids[name] ?? name),
        );
        expect(answer.statusCode, answer.body).toBe(200);
        const read = explained.take();
        const rows = read.reduce((sum, each) => sum + each.rows, 0);
        if (rows > room) wasteful[`${state}, ${mode}: ${path}`] = read.flatMap(({ scans }) => scans);
      }
    }
  }
  expect(wasteful).toEqual({});
});

test('a round of anomaly detection reads the chain and the state of a silent account, and nothing else of it, whatever the statistics say', async () => {
  const databaseUrl = await newDatabase();
  const db = openDatabase({ connectionString: databaseUrl }, 1);
  onTestFinished(() => db.destroy());
  const service = await startApp({ databaseUrl });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { agentId } = (await acme('POST', '/v1/agents', { name: 'Traveller' })).json();
  await detect(acme);
  const silent = { id: "'dev_' || n", developer_id: "'dev_' || n", email: "n || '@acme.test'" };
  await inTransaction(db, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    const changed = { ...silent, seq: '1', head: '1', due_at: 'null' };
    for (const name of ['developers', 'audit_heads', 'anomaly_states'])
      await copyRow(tx, name, { from: 0, count: FEW, changed });
  });
  const busy = { ...CHANGED, action: "'mail.sent'", agent_id: `'${agentId}'` }; // its rule fires in each round
  await copyRow(db, 'audit_entries', { from: 0, count: FEW, changed: busy });
  await sql`update audit_heads set seq = 1000000 + ${FEW} where developer_id = ${acme.developerId}`.execute(
    db,
  );
  const onFailure = (error: unknown) => expect.unreachable(String(error));
  const round = (over: Executor) =>
    runDetection({ ...service, db: over, onFailure }, new AbortController().signal);
  await round(db);

  for (const make of [() => forgetStatistics(db), () => sql`analyze`.execute(db)]) {
    await make();
    for (const mode of MODES) {
      const explained = openExplained(databaseUrl, mode);
      await explained.listen();
      explained.take();
      await round(explained.db);

      const seen = explained.take();
      const lists = seen.filter(({ text }) => text.startsWith('with chain'));
      expect(lists.reduce((sum, { rows }) => sum + rows, 0)).toBeLessThan(2 * FEW + ROOM);
      expect(seen.filter(({ text }) => text.includes('a.seq > p_after order by'))).not.toEqual([]);
      expect(seen.filter((each) => !lists.includes(each) && each.rows > ROOM)).toEqual([]);
    }
  }
});

/** @returns the statements of each call, and of the functions and foreign keys behind it, the one with the most rows last */
async function walk(
  { service, take }: { readonly service: Service; readonly take: () => Explained[] },
  acme: Developer,
): Promise<[name: string, Explained][]> {
  const calls = await hotCallsOf(service, Object.assign(service.calling(acme.apiKey), { ...acme }));
  take();
  const walked: [string, Explained][] = [];
  for (const [name, call] of Object.entries(calls)) {
    const { statusCode } = await service.app.inject(call);
    expect(statusCode, name).toBeLessThan(400);
    for (const each of take()) walked.push([`${name}: ${each.text}`, each]);
  }
  for (let time = 0; time < 2; time += 1) {
    // the first time, the process learns that they may share a statement
    await Promise.all(Array.from({ length: 4 }, () => service.app.inject(calls.introspect ?? {})));
    for (const each of take()) walked.push([`together: ${each.text}`, each]);
  }
  return walked.sort(([, one], [, other]) => one.rows - other.rows);
}

/** As on a database that was just made or restored. */
async function forgetStatistics(db: Executor): Promise<void> {
  await sql`delete from pg_statistic where starelid in
    (select oid from pg_class where relnamespace = 'public'::regnamespace)`.execute(db);
  await sql`update pg_class set reltuples = -1, relpages = 0
    where relnamespace = 'public'::regnamespace and relkind = 'r'`.execute(db);
}

/** In place of a column's value, in each copy of a row. */
const CHANGED = {
  id: 'one.id || n',
  root_grant_id: 'one.id || n',
  auth_request_id: 'null',
  predecessor_id: 'null',
  seq: '1000000 + n',
};

/** The tables that grow with the use of an account, each with a further column that tells a copy from its original. */
const TABLES: Readonly<Record<string, string | undefined>> = {
  agents: undefined,
  auth_requests: undefined,
  grants: undefined,
  tokens: undefined,
  refresh_tokens: undefined,
  audit_entries: undefined,
  outbox_events: undefined,
  vault_credentials: 'principal_id',
  budget_allocations: 'grant_id',
  budget_transactions: undefined,
  oauth_clients: 'agent_id',
};

/** Copies a row of each table until it has been copied `count` times. */
async function fill(db: Executor, from: number, count: number): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx); // without looks at foreign keys
    for (const [name, further] of Object.entries(TABLES)) {
      const changed = { ...CHANGED, ...(further && { [further]: `one.${further} || n` }) };
      await copyRow(tx, name, { from, count, changed });
    }
  });
}

interface Copies {
  readonly from: number;
  readonly count: number;
  /** By column, in SQL. */
  readonly changed: Readonly<Record<string, string>>;
}

/** Copies the first row of a table. */
async function copyRow(tx: Executor, name: string, { from, count, changed }: Copies): Promise<void> {
  const { rows } = await sql<{ column: string }>`select attname as column from pg_attribute
    where attrelid = ${name}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`.execute(tx);
  const columns = rows.map(({ column }) => column).join();
  const values = rows.map(({ column }) => changed[column] ?? `one.${column}`).join();
  await sql
    .raw(
      `insert into ${name} (${columns})
       select ${values} from ${name} one cross join generate_series(${from + 1}, ${count}) n
       where one.ctid = (select min(ctid) from ${name})`,
    )
    .execute(tx);
}
