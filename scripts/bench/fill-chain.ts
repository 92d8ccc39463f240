import type pg from 'pg';
import { appendEntries } from './fill.ts';
import type { Tenant } from './tenants.ts';

const BATCH = 500_000; // rows in one statement
const HASHED = 20_000; // entries at the end, appended as the service does
const TOGETHER = 1000;

/**
 * Makes a chain of `size` entries. The bulk of them has no real hash: the benchmark verifies only the end.
 * Indexes are rebuilt afterwards, which is faster and leaves them dense.
 */
export async function fillChain(db: pg.Client, tenant: Tenant, size: number) {
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
