import type pg from 'pg';
import { makeGrants, type Tenant } from './tenants.ts';

const BATCH = 50_000; // rows in one statement

/**
 * Fills a developer's tables with `count` grants, tokens, requests, agents and audit entries each. The entries
 * have no real hash, because the benchmark does not read them.
 */
export async function fill(db: pg.Client, { developerId, grants }: Tenant, count: number): Promise<void> {
  const [pattern] = grants;
  if (!pattern) throw new Error('There is no grant to copy.');
  for (let done = 0; done < count; done += BATCH) {
    const each = Math.min(BATCH, count - done);
    await makeGrants(db, pattern.grantId, each);
    const values = [developerId, each];
    await db.query(`insert into agents ${copyOf('agents', 'ag')}`, [...values, pattern.agentId]);
    const { rows } = await db.query(
      'select auth_request_id as id from grants where developer_id = $1 and id = $2',
      [developerId, pattern.grantId],
    );
    await db.query(`insert into auth_requests ${copyOf('auth_requests', 'areq')}`, [...values, rows[0]?.id]);
    await db.query(ENTRIES, values);
  }
}

const copyOf = (table: string, prefix: string) => `
  select (jsonb_populate_record(t, jsonb_build_object('id',
    '${prefix}_0' || upper(substr(md5(random()::text || each), 1, 25))))).*
  from ${table} t, generate_series(1, $2::integer) each where t.developer_id = $1 and t.id = $3`;

const ENTRIES = `
  with head as (
    update audit_heads set seq = seq + $2 where developer_id = $1 returning seq - $2 as start
  )
  insert into audit_entries (developer_id, seq, id, agent_id, grant_id, principal_id, action, status, metadata, at, hash)
  select $1, start + each, 'alog_0' || upper(substr(md5(random()::text || each), 1, 25)), 'ag_filled',
    'grnt_filled', 'user_42', 'email.sent', 'success', '{}', now(), sha256('')
  from head, generate_series(1, $2::integer) each`;
