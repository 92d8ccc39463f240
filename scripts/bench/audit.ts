import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type Stores, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { demand, type Operation, run, type Summary, summaryOf, timed } from './load.ts';
import { openDatabase } from './scene.ts';
import { appendEntries, heldBy, signUp, type Tenant } from './tenants.ts';

const USAGE = `npm run bench -- audit [options]
  --sizes <n,n,…>   how many entries the chain has when it is read; 10000,1000000,10000000 unless said
  --seconds <n>     of each round; 4 unless said
`;

const { values: flags } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,1000000,10000000' },
    seconds: { type: 'string', default: '4' },
    help: { type: 'boolean', default: false },
  },
});
const seconds = Number(flags.seconds);
const ROUNDS = 3;
const VERIFIED = 10_000; // entries in one call
const say = (line: string) => process.stdout.write(`${line}\n`);
const cells = (...values: (string | number)[]) => say(`| ${values.join(' | ')} |`);

/** Measures the audit log alone: the rate of appends, and the cost of reads in a long log. */
async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const server = cleanUp.adopt(await startServer(stores, { folder }), ({ stop }) => stop());
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  const tenant = await signUp(server.port);

  cells(
    'Clients',
    'POST /v1/audit/log',
    'p99 ms',
    'one entry a statement',
    'p99 ms',
    'plain insert',
    'p99 ms',
  );
  cells('---:', '---:', '---:', '---:', '---:', '---:', '---:');
  await db.query('create table plain (id bigserial primary key, developer_id text, line jsonb)');
  for (const connections of [1, 16, 64]) {
    const http = await medianOf(server.port, connections, appendsOf(tenant));
    const chained = await medianOf(server.port, connections, statementsOf(stores, chainedAppend(tenant)));
    const plain = await medianOf(server.port, connections, statementsOf(stores, plainInsert(tenant)));
    cells(connections, ...[http, chained, plain].flatMap(({ rate, p99 }) => [rounded(rate), p99.toFixed(1)]));
  }

  say('');
  const reads = readsOf();
  cells('Entries', 'append a second, 16 clients', ...reads.map(({ name }) => name));
  cells('---:', '---:', ...reads.map(() => '---:'));
  for (const size of flags.sizes.split(',').map(Number)) {
    const { middle, rareAgent } = await fillChain(db, tenant, size);
    const { rate } = await medianOf(server.port, 16, appendsOf(tenant));
    const times: string[] = [];
    for (const { path, tries } of reads) {
      const { p50 } = await timed(server.port, tries, { path: path(middle, rareAgent, size), ...tenant });
      times.push(p50.toFixed(1));
    }
    cells(size.toLocaleString('en'), rounded(rate), ...times);
  }
}

const rounded = (rate: number) => Math.round(rate).toLocaleString('en');

const appendsOf =
  (tenant: Tenant) =>
  (connection: number): Operation => {
    const { agentId, agentDid, grantId } = heldBy(tenant, connection);
    const body = { agentId, agentDid, grantId, principalId: 'user_42', action: 'email.sent' };
    const { apiKey } = tenant;
    return (client) => demand(client, { method: 'POST', path: '/v1/audit/log', body, apiKey }, 201);
  };

/**
 * Measures Postgres without the service: for each client a connection, one prepared statement, and a commit for
 * each row.
 */
function statementsOf({ databaseUrl }: Stores, statement: (connection: number) => () => pg.QueryConfig) {
  const clients: pg.Client[] = [];
  const open = async (connections: number) => {
    for (let each = 0; each < connections; each += 1) {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      clients.push(client);
    }
  };
  const operation = (connection: number): Operation => {
    const next = statement(connection);
    return async () => clients[connection]?.query(next());
  };
  return Object.assign(operation, { open, close: () => Promise.all(clients.map((client) => client.end())) });
}

const chainedAppend =
  ({ developerId }: Tenant) =>
  (connection: number) => {
    let count = 0;
    const members = '"agentId":null,"agentDid":null,"grantId":null,"principalId":"user_42"';
    return () => {
      count += 1;
      const id = `alog_bench_${connection}_${process.hrtime.bigint()}_${count}`;
      const prefix = `{"id":"${id}",${members},"developerId":"${developerId}","action":"email.sent","metadata":{},"timestamp":"`;
      const entries = JSON.stringify([
        { prefix, suffix: ',"status":"success"}', requestId: 'bench', monthLimit: -1 },
      ]);
      const text = 'select * from audit_append($1, now(), $2::jsonb)';
      return { name: 'append', text, values: [developerId, entries] };
    };
  };

const plainInsert =
  ({ developerId }: Tenant) =>
  () =>
  () => ({
    name: 'insert',
    text: 'insert into plain (developer_id, line) values ($1, $2)',
    values: [developerId, '{"action":"email.sent","principalId":"user_42"}'],
  });

async function medianOf(
  port: number,
  connections: number,
  operation: ((connection: number) => Operation) & Partial<ReturnType<typeof statementsOf>>,
): Promise<Summary> {
  await operation.open?.(connections);
  const load = { port, connections, operation, meters: {} };
  await run({ ...load, seconds: 1 }); // warms up
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await run({ ...load, seconds }));
  await operation.close?.();
  return summaryOf(rounds);
}

/** Milliseconds of each read, with one client. */
function readsOf() {
  const list = (query: string) => `/v1/audit/entries?limit=100${query}`;
  return [
    { name: 'newest 100', tries: 50, path: () => list('&order=desc') },
    {
      name: '100 from the middle',
      tries: 50,
      path: (middle: string, _: string, size: number) =>
        `${list(`&since=${encodeURIComponent(middle)}`)}&cursor=${Math.floor(size / 2)}`,
    },
    {
      name: '100 since a time in the middle',
      tries: 50,
      path: (middle: string) => list(`&since=${encodeURIComponent(middle)}`),
    },
    { name: '100 of a rare agent', tries: 50, path: (_: string, rare: string) => list(`&agentId=${rare}`) },
    {
      name: `verify the last ${VERIFIED.toLocaleString('en')}`,
      tries: 3,
      path: (_: string, __: string, size: number) =>
        `/v1/audit/verify?fromSeq=${size - VERIFIED + 1}&toSeq=${size}`,
    },
  ];
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await bench();

const BATCH = 500_000; // rows in one statement
const HASHED = 20_000; // entries at the end, appended as the service does
const TOGETHER = 1000;

/**
 * Makes a chain of `size` entries. The bulk of them has no real hash: the benchmark verifies only the end.
 * Indexes are rebuilt afterwards, which is faster and leaves them dense.
 */
async function fillChain(db: pg.Client, tenant: Tenant, size: number) {
  const { developerId, grants } = tenant;
  const rareAgent = 'ag_bench_rare';
  const indexes = (await db.query<{ name: string; definition: string }>(SECONDARY)).rows;
  for (const { name } of indexes) await db.query(`drop index ${name}`);
  let length = await lengthOf(db, developerId);
  for (; length < size - HASHED; length = await lengthOf(db, developerId)) {
    const count = Math.min(BATCH, size - HASHED - length);
    await db.query(BULK, [developerId, count, grants[0]?.agentId, grants[0]?.grantId, rareAgent]);
  }
  for (const { definition } of indexes) await db.query(definition);
  for (; length < size; length = await lengthOf(db, developerId)) {
    await appendEntries(db, tenant, Math.min(TOGETHER, size - length));
  }
  await db.query('vacuum analyze audit_entries');
  const { rows } = await db.query<{ at: Date }>(
    'select at from audit_entries where developer_id = $1 and seq = $2',
    [developerId, Math.max(1, Math.floor(size / 2))],
  );
  return { middle: rows[0]?.at.toISOString() ?? '', rareAgent };
}

async function lengthOf(db: pg.Client, developerId: string): Promise<number> {
  const { rows } = await db.query('select seq from audit_heads where developer_id = $1', [developerId]);
  return Number(rows[0]?.seq ?? 0);
}

const SECONDARY = `select indexname as name, indexdef as definition from pg_indexes
  where tablename = 'audit_entries' and indexname not like '%_pkey' and indexname not like '%_key'`;

/** One entry in ten thousand is of the rare agent. */
const BULK = `
  with head as (
    update audit_heads set seq = seq + $2, at = at + $2 * interval '1 millisecond', hash = sha256('filled')
    where developer_id = $1 returning seq - $2 as start, at - $2 * interval '1 millisecond' as since
  )
  insert into audit_entries (developer_id, seq, id, agent_id, grant_id, principal_id, action, status, metadata, at,
    prev_hash, hash)
  select $1, start + n, 'alog_0' || upper(substr(md5(start::text || ':' || n), 1, 25)),
    case when n % 10000 = 0 then $5 else $3 end, $4, 'user_' || n % 1000, 'email.sent',
    (case when n % 1000 = 0 then 'failure' else 'success' end)::audit_status, '{"to": "somebody", "bytes": 1200}',
    since + n * interval '1 millisecond', sha256('filled'), sha256('filled')
  from head, generate_series(1, $2::integer) n`;
