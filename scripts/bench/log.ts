import { generateKeyPairSync, hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { leafOf } from '../../packages/protocol/src/audit-parts.ts';
import { nodeHash } from '../../packages/protocol/src/merkle.ts';
import { rootOf, type Tile, tilesByKey, tileWidth } from '../../packages/protocol/src/merkle-tiles.ts';
import { type Server, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { demand, latenciesOf, median, type Operation, type Round, run, summaryOf } from './load.ts';
import { familyMeterOf, meterOf, parentOf } from './machine.ts';
import { table, whole, writeSection } from './results.ts';
import { openDatabase } from './scene.ts';
import { appendEntries, asked, heldBy, signUp, type Tenant } from './tenants.ts';

const USAGE = `npm run bench -- log [options]
  --rounds <n>   pairs of rounds with the log at work and at rest, 10 unless said
  --seconds <n>  of a round, 4 unless said
  --backlog <n>  entries that wait, 100000 unless said
  --large <n>    entries of the large log, 100000000 unless said
  --note <text>  what else is to be said of the run
  --write        writes the outcome into scripts/bench/RESULTS.md
`;

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '4' },
    backlog: { type: 'string', default: '100000' },
    large: { type: 'string', default: '100000000' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [ROUNDS, SECONDS, BACKLOG] = [Number(flags.rounds), Number(flags.seconds), Number(flags.backlog)];
const [SMALL, LARGE] = [100, Number(flags.large)];
const PROVED = 2000; // entries of the large log that proofs are asked for
const say = (line: string) => process.stdout.write(`${line}\n`);
const digits = (value: number, count: number) => value.toFixed(count);

const env = {
  ED25519_PRIVATE_KEY: String(
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ),
  TRANSPARENCY_INTERVAL_SECONDS: '1', // ten times as often as by default
};

const WHAT = `Made by \`npm run bench -- log --write\`. The log works once a second, ten times as often as by default; at rest it is halted.
Rounds with the log at work and at rest come in pairs, in turns as to which is the first, so that other work on the machine meets both.
A share is the median over the pairs of the one by the other. CPU is milliseconds of processor time for each operation.`;

/** Measures the transparency log: what it costs those who append, its own work, its size, and proofs of it. */
async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const start = () => startServer(stores, { folder, env });
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  const server = await start();
  const tenant = await signUp(server.port);
  const appends = await measureAppends(server, db, tenant);
  const work = await measureWork(server, db, tenant);
  const small = await signUp(server.port, 1);
  await appendEntries(db, small, SMALL);
  const proofs = await measureProofs(server, db, { tenant: small, size: SMALL, proved: SMALL });
  await server.stop(); // it would notice that the log is another one
  await makeLarge(db, tenant);
  const next = cleanUp.adopt(await start(), ({ stop }) => stop());
  proofs.push(...(await measureProofs(next, db, { tenant, size: LARGE, proved: PROVED })));
  const parts = [flags.note ? `${WHAT} ${flags.note}` : WHAT, appends, work, table(PROOFS, proofs)];
  if (flags.write) writeSection('The transparency log', parts.join('\n\n'));
}

const STATES = ['at work', 'at rest'] as const;
type State = (typeof STATES)[number];

/** The flows with the log at work and at rest, in pairs: a halted log does nothing. */
async function measureAppends(server: Server, db: pg.Client, tenant: Tenant): Promise<string> {
  const meters = await metersOf(server, db);
  const found: string[][] = [];
  for (const [name, operation] of Object.entries(flowsOf(tenant))) {
    const measured: Record<State, Round[]> = { 'at work': [], 'at rest': [] };
    await run({ port: server.port, seconds: 1, meters, operation });
    for (let pair = 0; pair < ROUNDS; pair += 1) {
      for (const state of pair % 2 === 0 ? STATES : STATES.toReversed()) {
        await db.query('update tlog_logs set halted = null');
        await caughtUp(db, tenant);
        if (state === 'at rest') await db.query(`update tlog_logs set halted = 'bench'`);
        measured[state].push(await run({ port: server.port, seconds: SECONDS, meters, operation }));
      }
    }
    await db.query('update tlog_logs set halted = null');
    const shareOf = (figure: (round: Round) => number) =>
      digits(median(measured['at work'].map((at, pair) => figure(at) / figure(restOf(measured, pair)))), 3);
    for (const state of STATES) {
      const summary = summaryOf(measured[state]);
      const { rate, p50, p99 } = summary;
      found.push([`${name}, ${state}`, whole(rate), digits(p50, 1), digits(p99, 1), ...spentOf(summary)]);
    }
    const cpuOf = (who: string) => shareOf(({ cpu, operations }) => (cpu[who] ?? 0) / operations);
    found.push([
      `${name}, at work by at rest`,
      shareOf(({ operations, seconds }) => operations / seconds),
      shareOf(({ latencies }) => latenciesOf(latencies).p50),
      shareOf(({ latencies }) => latenciesOf(latencies).p99),
      ...[cpuOf('service'), cpuOf('postgres')],
    ]);
    for (const line of found.slice(-3)) say(line.join('  '));
  }
  const head = ['Flow, 16 clients', 'a second', 'p50 ms', 'p99 ms', 'CPU, service', 'CPU, PostgreSQL'];
  return `${table(head, found)}\n\nThe aim is a share of at least 0.97 of the rate, and at most 1.03 of p99.`;
}

async function metersOf({ pid }: Server, db: pg.Client) {
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
  return { service: meterOf(pid), postgres: familyMeterOf(parentOf(rows[0]?.pid ?? 0)) };
}

const spentOf = ({ cpu }: ReturnType<typeof summaryOf>) =>
  [cpu.service ?? 0, cpu.postgres ?? 0].map((each) => digits(each, 3));

function restOf({ 'at rest': rounds }: Record<State, Round[]>, pair: number): Round {
  const round = rounds[pair];
  if (!round) throw new Error('A pair has one round.');
  return round;
}

function flowsOf(tenant: Tenant): Record<string, (connection: number) => Operation> {
  const { apiKey } = tenant;
  const post = (path: string, body: object) => ({ method: 'POST', path, body, apiKey });
  return {
    'POST /v1/audit/log': (connection) => {
      const { agentId, agentDid, grantId } = heldBy(tenant, connection);
      const about = { agentId, agentDid, grantId, principalId: 'user_42', action: 'email.sent' };
      const metadata = { to: 'somebody', subject: 'A letter', bytes: 1200, attachments: 2, lang: 'en' };
      return (client) => demand(client, post('/v1/audit/log', { ...about, metadata }), 201);
    },
    'POST /v1/authorize': (connection) => {
      const { agentId } = heldBy(tenant, connection);
      return (client) => demand(client, post('/v1/authorize', { agentId, ...asked }), 201);
    },
  };
}

async function standingOf(db: pg.Client, { developerId }: Tenant) {
  const { rows } = await db.query<{ head: number; size: number }>(
    `select h.seq::float8 as head, coalesce(l.size, 0)::float8 as size from audit_heads h
     left join tlog_logs l on l.developer_id = h.developer_id and l.closed_at is null where h.developer_id = $1`,
    [developerId],
  );
  return rows[0] ?? { head: 0, size: 0 };
}

async function caughtUp(db: pg.Client, tenant: Tenant): Promise<void> {
  for (let goesOn = true; goesOn; ) {
    const { head, size } = await standingOf(db, tenant);
    goesOn = size < head;
    if (goesOn) await delay(20);
  }
}

/** The work at a backlog, and what it leaves. */
async function measureWork(server: Server, db: pg.Client, tenant: Tenant): Promise<string> {
  await db.query(`update tlog_logs set halted = 'bench'`);
  for (let made = 0; made < BACKLOG; made += 1000) await appendEntries(db, tenant, 1000);
  await delay(2000);
  const spent = meterOf(server.pid);
  const before = spent();
  const startedAt = performance.now();
  await db.query('update tlog_logs set halted = null');
  const asking = fetch(`http://127.0.0.1:${server.port}/v1/transparency`, {
    headers: { authorization: `Bearer ${tenant.apiKey}` },
  });
  await caughtUp(db, tenant);
  const seconds = (performance.now() - startedAt) / 1000;
  const micros = ((spent() - before) * 1e6) / BACKLOG;
  await (await asking).arrayBuffer();
  const { rows } = await db.query<{ bytes: number; entries: number }>(
    `select (pg_total_relation_size('tlog_tiles') + pg_total_relation_size('tlog_logs')
       + pg_total_relation_size('tlog_checkpoints'))::float8 as bytes, sum(size)::float8 as entries from tlog_logs`,
  );
  const [{ bytes, entries } = { bytes: 0, entries: 1 }] = rows;
  const found = [
    [`${BACKLOG.toLocaleString('en')} entries that waited, seconds`, digits(seconds, 1), '8'],
    ['The service’s processor for each of them, µs', digits(micros, 0), '40'],
    [`Bytes for each of ${entries.toLocaleString('en')} entries`, digits(bytes / entries, 1), '40'],
  ];
  for (const line of found) say(line.join('  '));
  return table(['The work', 'Figure', 'Aim'], found);
}

const PROOFS = ['Entries, proof', 'p50 ms', 'p99 ms', 'Aim, p99 ms', 'CPU, service', 'CPU, PostgreSQL'];

async function measureProofs(
  server: Server,
  db: pg.Client,
  { tenant, size, proved }: { readonly tenant: Tenant; readonly size: number; readonly proved: number },
) {
  const { port } = server;
  const meters = await metersOf(server, db);
  const { apiKey } = tenant;
  const step = size / proved;
  const any = () => 1 + Math.floor(1 + Math.random() * (proved - 1)) * step;
  const found: string[][] = [];
  for (const kind of ['inclusion?seq', 'consistency?from']) {
    const operation = (): Operation => (client) =>
      demand(client, { method: 'GET', path: `/v1/transparency/${kind}=${any()}`, apiKey }, 200);
    await run({ port, seconds: 1, connections: 1, meters: {}, operation });
    const summary = summaryOf([await run({ port, seconds: SECONDS, connections: 1, meters, operation })]);
    const [name, times] = [`${size.toLocaleString('en')}, ${kind.split('?')[0]}`, [summary.p50, summary.p99]];
    found.push([name, ...times.map((each) => digits(each, 1)), '10', ...spentOf(summary)]);
    say(found.at(-1)?.join('  ') ?? '');
  }
  return found;
}

const HIDDEN = [`#${'A'.repeat(43)}`];
const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

/**
 * Makes a log of very many leaves that are all the same, so that all full tiles of a level are the same. Every tile has its row;
 * those of level 0 that no proof needs hold one hash. The entries have one hash, and hide their parts.
 */
async function makeLarge(db: pg.Client, { developerId }: Tenant): Promise<void> {
  for (const table of ['tlog_checkpoints', 'tlog_tiles']) await db.query(`delete from ${table}`);
  const tiles: Tile[] = [];
  const { rows: firsts } = await db.query<{ hash: string }>(
    `select encode(hash, 'hex') as hash from audit_entries where developer_id = $1 and seq = 1`,
    [developerId],
  );
  let leaf = leafOf(firsts[0]?.hash ?? '', HIDDEN, sha256);
  for (
    let [level, hashes] = [0, LARGE];
    hashes > 0;
    [level, hashes] = [level + 1, Math.floor(hashes / 256)]
  ) {
    const full = Buffer.concat(Array.from({ length: 256 }, () => leaf));
    const last = Math.floor((hashes - 1) / 256);
    const width = tileWidth({ level, index: last }, LARGE);
    tiles.push(
      { level, index: 0, hashes: full },
      { level, index: last, hashes: full.subarray(0, width * 32) },
    );
    await db.query(
      `insert into tlog_tiles select $1, 1, $2, n, case
         when n = $3 then substr($4::bytea, 1, $5) when $2 > 0 or ceil(n * 256 / $6::numeric) * $6 < (n + 1) * 256 then $4::bytea else substr($4::bytea, 1, 32) end
       from generate_series(0, $3::bigint) n`,
      [developerId, level, last, full, width * 32, LARGE / PROVED],
    );
    const alone = tilesByKey([{ level: 0, index: 0, hashes: full }]);
    const half = rootOf({ start: 0, end: 128 }, alone, sha256);
    leaf = nodeHash(half, half, sha256);
  }
  const { rows } = await db.query<Tile>(
    'select level, idx::float8 as index, hashes from tlog_tiles where level > 0',
  );
  const root = rootOf({ start: 0, end: LARGE }, tilesByKey([...rows, ...tiles]), sha256);
  await db.query('update tlog_logs set size = $2, root = $3 where developer_id = $1', [
    developerId,
    LARGE,
    root,
  ]);
  await db.query('set session_replication_role = replica'); // entries may not be deleted
  await db.query('delete from audit_entries where developer_id = $1 and seq > 1', [developerId]);
  await db.query(
    `insert into audit_entries select copy.* from generate_series(1, $2::int - 1) n, audit_entries e,
       jsonb_populate_record(e, jsonb_build_object('seq', n::bigint * $3 + 1, 'id', 'alog_large_' || n, 'parts', $4::text[])) copy
     where e.developer_id = $1 and e.seq = 1`,
    [developerId, PROVED, LARGE / PROVED, HIDDEN],
  );
  await db.query('update audit_heads set seq = $2 where developer_id = $1', [developerId, LARGE]);
  await db.query('vacuum analyze');
}

if (flags.help) process.stdout.write(USAGE);
else await bench();
