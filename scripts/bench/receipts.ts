import { hash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { AuditEntry } from '@behest/protocol/audit-chain';
import { leafOf, partsOf } from '@behest/protocol/audit-parts';
import { extendTiles, middleTile, rootOf, type Tile, tileKey, tilesFor } from '@behest/protocol/merkle-tiles';
import type pg from 'pg';
import { startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { median } from './load.ts';
import { table, whole, writeSection } from './results.ts';
import { openDatabase } from './scene.ts';
import { signUp, type Tenant } from './tenants.ts';

const USAGE = `npm run bench -- receipts [options]
  --entries <n>   of the account, 10000000 unless said; other accounts' rows are not made, and only their hashes of those beside
  --acts <n,n,…>  under a grant, spread evenly over them; 1,1000,100000 unless said
  --write         writes the outcome into scripts/bench/RESULTS.md
`;

const { values: flags } = parseArgs({
  options: {
    entries: { type: 'string', default: '10000000' },
    acts: { type: 'string', default: '1,1000,100000' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const entries = Number(flags.entries);
const counts = flags.acts.split(',').map(Number);
const ROUNDS = 3;

const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');
const say = (line: string) => process.stdout.write(`${line}\n`);

async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const server = cleanUp.adopt(await startServer(stores, { folder }), ({ stop }) => stop());
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  const tenant = await signUp(server.port, counts.length);
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${tenant.apiKey}` };
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}.`);
    return Buffer.from(await answer.arrayBuffer());
  };
  await get('/v1/transparency'); // makes the log
  await fill(db, tenant);

  const rows: string[][] = [];
  for (const [at, count] of counts.entries()) {
    const times: number[] = [];
    let file: Buffer = Buffer.alloc(0);
    for (let round = 0; round < ROUNDS; round += 1) {
      const startedAt = performance.now();
      file = await get(`/v1/grants/${tenant.grants[at]?.grantId}/receipt`);
      times.push(performance.now() - startedAt);
    }
    const { entries: shown, proof } = JSON.parse(file.toString());
    rows.push(
      [count, shown.length, file.length, proof.length, median(times)].map((each) => whole(Number(each))),
    );
    say(rows.at(-1)?.join('  ') ?? '');
  }
  const { rows: sizes } = await db.query<{ bytes: string }>(
    `select pg_total_relation_size('tlog_tiles') as bytes`,
  );
  const each = Number(sizes[0]?.bytes) / entries;
  const head = ['Acts', 'Entries', 'Bytes', 'Hashes of the proof', 'ms'];
  const text = `Receipts of a grant in an account of ${entries.toLocaleString('en')} entries, among which its acts are spread evenly.
Made by \`npm run bench -- receipts\`, medians of ${ROUNDS}. Tiles take ${whole(each)} bytes for each entry.\n\n${table(head, rows)}`;
  say(text);
  if (flags.write) writeSection('Receipts', text);
}

interface Act {
  readonly seq: number;
  readonly grant: Tenant['grants'][number];
}

/** The acts of the grants, each grant's spread over the numbers after `from`, no two on one. */
function* actsAfter(from: number, { grants }: Tenant): Generator<Act> {
  const taken = new Set<number>();
  for (const [at, count] of counts.entries()) {
    for (let each = 0; each < count; each += 1) {
      let seq = from + 1 + Math.floor(((each + 0.5) * (entries - from)) / count);
      while (taken.has(seq)) seq += 1;
      taken.add(seq);
      const grant = grants[at];
      if (grant) yield { seq, grant };
    }
  }
}

/** Makes the log as long as is asked, with the entries of the acts; of all others it gets a hash. */
async function fill(db: pg.Client, tenant: Tenant): Promise<void> {
  const { developerId } = tenant;
  const { rows } = await db.query('select size::int as size, gen from tlog_logs where developer_id = $1', [
    developerId,
  ]);
  const { size: from, gen } = rows[0];
  const leaves = new Map<number, Uint8Array>();
  let batch: AuditEntry[] = [];
  const flush = async () => {
    await db.query(
      `insert into audit_entries (developer_id, seq, id, agent_id, agent_did, grant_id, principal_id, action, status, metadata, salt,
         at, hash)
       select $1, seq, id, "agentId", "agentDid", "grantId", "principalId", action, 'success', metadata, salt, timestamp,
         decode(hash, 'hex')
       from jsonb_to_recordset($2::jsonb) as e (seq bigint, id text, "agentId" text, "agentDid" text, "grantId" text,
         "principalId" text, action text, metadata jsonb, salt text, timestamp timestamptz, hash text)`,
      [developerId, JSON.stringify(batch)],
    );
    batch = [];
  };
  for (const { seq, grant } of actsAfter(from, tenant)) {
    const { agentId, agentDid, grantId } = grant;
    const about = { agentId, agentDid, grantId, principalId: 'user_42', developerId };
    const metadata = { to: 'bob@example.com', subject: 'Your order', bytes: 1024 };
    const act = {
      action: 'email.sent',
      status: 'success',
      metadata,
      timestamp: new Date().toISOString(),
    } as const;
    const id = `alog_bench_${seq}`;
    const hashed = {
      seq,
      id,
      hash: randomBytes(32).toString('hex'),
      salt: randomBytes(16).toString('base64url'),
    };
    const entry = {
      ...about,
      ...act,
      ...hashed,
      prevHash: null,
      purpose: null,
      requestId: null,
    } as unknown as AuditEntry;
    leaves.set(seq, leafOf(hashed.hash, partsOf(entry, sha256), sha256));
    batch.push(entry);
    if (batch.length === 1000) await flush();
  }
  if (batch.length > 0) await flush();

  const { rows: kept } = await db.query(
    'select level, idx::int as index, hashes from tlog_tiles where developer_id = $1',
    [developerId],
  );
  let edge = new Map<string, Tile>(kept.map((tile) => [tileKey(tile), tile]));
  for (let size = from; size < entries; ) {
    const most = Math.min(entries - size, 65_536);
    const next = Array.from({ length: most }, (_, at) => leaves.get(size + at + 1) ?? randomBytes(32));
    const changed = extendTiles({ size, edge, leaves: next }, sha256);
    size += most;
    for (const tile of changed) edge.set(tileKey(tile), tile);
    const written = changed.flatMap((tile) => [tile, middleTile(tile, sha256) ?? []].flat());
    const hexed = written.map((tile) => ({ ...tile, hashes: Buffer.from(tile.hashes).toString('hex') }));
    await db.query(
      `insert into tlog_tiles (developer_id, gen, level, idx, hashes)
       select $1, $2, level, index, decode(hashes, 'hex') from jsonb_to_recordset($3::jsonb) as t (level int, index bigint, hashes text)
       on conflict (developer_id, gen, level, idx) do update set hashes = excluded.hashes`,
      [developerId, gen, JSON.stringify(hexed)],
    );
    const needed = new Set(tilesFor([{ start: 0, end: size }]).map(tileKey));
    const root = rootOf({ start: 0, end: size }, edge, sha256);
    edge = new Map([...edge].filter(([key]) => needed.has(key)));
    if (size < entries) continue;
    await db.query('begin');
    await db.query('update audit_heads set seq = $2 where developer_id = $1', [developerId, size]);
    await db.query('update tlog_logs set size = $2, root = $3 where developer_id = $1', [
      developerId,
      size,
      root,
    ]);
    await db.query('commit');
  }
}

if (flags.help) process.stdout.write(USAGE);
else await bench();
