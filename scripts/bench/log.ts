import { generateKeyPairSync, hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { nodeHash } from '../../packages/protocol/src/merkle.ts';
import { rootOf, type Tile, tilesByKey, tileWidth } from '../../packages/protocol/src/merkle-tiles.ts';
import { type Server, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { demand, type Operation, type Round, run, summaryOf } from './load.ts';
import { familyMeterOf, meterOf, parentOf } from './machine.ts';
import { openDatabase } from './scene.ts';
import { appendEntries, asked, heldBy, signUp, type Tenant } from './tenants.ts';

const ROUNDS = 5;
const SECONDS = 4; // of each round
const BACKLOG = 100_000; // entries
const [SMALL, LARGE] = [100, 100_000_000];
const PROVED = 2000; // entries of the large log that proofs are asked for
const say = (line: string) => process.stdout.write(`${line}\n`);
const cells = (...values: (string | number)[]) => say(`| ${values.join(' | ')} |`);

const env = {
  ED25519_PRIVATE_KEY: String(
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ),
  TRANSPARENCY_INTERVAL_SECONDS: '1', // ten times as often as by default
};

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
  await measureAppends(server, db, tenant);
  await measureWork(server, db, tenant);
  const small = await signUp(server.port, 1);
  await appendEntries(db, small, SMALL);
  await measureProofs(server, small, SMALL, SMALL);
  await server.stop(); // it would notice that the log is another one
  await makeLarge(db, tenant);
  const next = cleanUp.adopt(await start(), ({ stop }) => stop());
  await measureProofs(next, tenant, LARGE, PROVED);
}

/** The flows with the log at work and at rest, in turns: a halted log does nothing. */
async function measureAppends(server: Server, db: pg.Client, tenant: Tenant): Promise<void> {
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
  const meters = { server: meterOf(server.pid), postgres: familyMeterOf(parentOf(rows[0]?.pid ?? 0)) };
  cells('Flow, 16 clients', 'log', 'a second', 'p50 ms', 'p99 ms', 'CPU ms, service', 'CPU ms, PostgreSQL');
  cells('---', '---', '---:', '---:', '---:', '---:', '---:');
  for (const [name, operation] of Object.entries(flowsOf(tenant))) {
    const measured: Record<'at work' | 'at rest', Round[]> = { 'at work': [], 'at rest': [] };
    await run({ port: server.port, seconds: 1, meters, operation });
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const state of ['at work', 'at rest'] as const) {
        await db.query('update tlog_logs set halted = null');
        await caughtUp(db, tenant);
        if (state === 'at rest') await db.query(`update tlog_logs set halted = 'bench'`);
        measured[state].push(await run({ port: server.port, seconds: SECONDS, meters, operation }));
      }
    }
    await db.query('update tlog_logs set halted = null');
    for (const [state, rounds] of Object.entries(measured)) {
      const { rate, p50, p99, cpu } = summaryOf(rounds);
      const spent = [cpu.server ?? 0, cpu.postgres ?? 0].map((each) => each.toFixed(3));
      cells(name, state, Math.round(rate), p50.toFixed(1), p99.toFixed(1), ...spent);
    }
  }
  say('');
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
async function measureWork(server: Server, db: pg.Client, tenant: Tenant): Promise<void> {
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
  const each = (bytes = 0) => (bytes / (rows[0]?.entries ?? 1)).toFixed(1);
  say(
    `${BACKLOG} entries that waited: ${seconds.toFixed(1)} s, ${micros.toFixed(0)} µs of the service for each.`,
  );
  say(`Bytes for each of ${rows[0]?.entries} entries: ${each(rows[0]?.bytes)}.\n`);
  cells('Entries', 'proof', 'p50 ms', 'p99 ms');
  cells('---:', '---', '---:', '---:');
}

async function measureProofs({ port }: Server, tenant: Tenant, size: number, proved: number): Promise<void> {
  const { apiKey } = tenant;
  const step = size / proved;
  const kinds = {
    inclusion: () => `inclusion?seq=${1 + Math.floor(Math.random() * proved) * step}`,
    consistency: () => `consistency?from=${1 + Math.floor(Math.random() * proved) * step}`,
  };
  for (const [kind, query] of Object.entries(kinds)) {
    const operation = (): Operation => (client) =>
      demand(client, { method: 'GET', path: `/v1/transparency/${query()}`, apiKey }, 200);
    await run({ port, seconds: 1, connections: 1, meters: {}, operation });
    const { p50, p99 } = summaryOf([
      await run({ port, seconds: SECONDS, connections: 1, meters: {}, operation }),
    ]);
    cells(size.toLocaleString('en'), kind, p50.toFixed(1), p99.toFixed(1));
  }
}

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

/**
 * Makes a log of a hundred million leaves that are all the same, so that all full tiles of a level are the same. Every tile has
 * its row; those of level 0 that no proof needs hold one hash.
 */
async function makeLarge(db: pg.Client, { developerId }: Tenant): Promise<void> {
  for (const table of ['tlog_checkpoints', 'tlog_tiles']) await db.query(`delete from ${table}`);
  const tiles: Tile[] = [];
  let leaf: Uint8Array = sha256(new Uint8Array([0]));
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
  await db.query(
    `insert into audit_entries select copy.* from generate_series(1, $2::int - 1) n, audit_entries e,
       jsonb_populate_record(e, jsonb_build_object('seq', n::bigint * $3 + 1, 'id', 'alog_large_' || n)) copy
     where e.developer_id = $1 and e.seq = 1 on conflict do nothing`,
    [developerId, PROVED, LARGE / PROVED],
  );
  await db.query('update audit_heads set seq = $2 where developer_id = $1', [developerId, LARGE]);
  await db.query('vacuum analyze');
}

await bench();
