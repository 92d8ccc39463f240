import type pg from 'pg';
import { makeGrants, NEW_ULID, type Tenant } from './tenants.ts';

const BATCH = 50_000; // rows in one statement
const TOGETHER = 1000; // entries in one call of the function that chains them

/**
 * Fills a developer's tables until it has `count` grants, tokens, requests, agents and audit entries each. The
 * entries go through the function of the service, so that the chain is whole.
 */
export async function fill(db: pg.Client, tenant: Tenant, count: number): Promise<void> {
  const { developerId, grants } = tenant;
  const [pattern] = grants;
  if (!pattern) throw new Error('There is no grant to copy.');
  const { rows } = await db.query<{ id: string }>(
    'select auth_request_id as id from grants where developer_id = $1 and id = $2',
    [developerId, pattern.grantId],
  );
  for (let done = await countOf(db, developerId, 'grants'); done < count; done += BATCH) {
    const each = Math.min(BATCH, count - done);
    const values = [developerId, each];
    await makeGrants(db, pattern.grantId, each);
    await db.query(`insert into agents ${copyOf('agents', 'ag')}`, [...values, pattern.agentId]);
    await db.query(`insert into auth_requests ${copyOf('auth_requests', 'areq')}`, [...values, rows[0]?.id]);
  }
  for (let done = await countOf(db, developerId, 'audit_entries'); done < count; done += TOGETHER) {
    await appendEntries(db, tenant, Math.min(TOGETHER, count - done));
  }
}

async function countOf(
  db: pg.Client,
  developerId: string,
  table: 'grants' | 'audit_entries',
): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    `select count(*) as count from ${table} where developer_id = $1`,
    [developerId],
  );
  return Number(rows[0]?.count);
}

const copyOf = (table: string, prefix: string) => `
  select copy.* from generate_series(1, $2::integer) each, ${table} t, jsonb_populate_record(t, jsonb_build_object('id',
    '${prefix}_' || ${NEW_ULID})) copy
  where t.developer_id = $1 and t.id = $3`;

/** Appends entries as the service does, but many in one call. */
export async function appendEntries(
  db: pg.Client,
  { developerId, grants }: Tenant,
  count: number,
): Promise<void> {
  const { agentId, agentDid, grantId } = grants[0] ?? {};
  await db.query(APPEND, [developerId, count, agentId, agentDid, grantId]);
}

const APPEND = `
  select count(*) from audit_append($1, now(), (
    select jsonb_agg(jsonb_build_object('requestId', 'bench', 'suffix', ',"status":"success"}', 'prefix',
      '{"id":"alog_' || ${NEW_ULID} || '","agentId":"' || $3 ||
      '","agentDid":"' || $4 || '","grantId":"' || $5 || '","principalId":"user_' || each ||
      '","developerId":"' || $1 || '","action":"email.sent","metadata":{},"timestamp":"'))
    from generate_series(1, $2::integer) each))`;
