import type pg from 'pg';
import { openClient } from './client.ts';
import { CONNECTIONS, demand } from './load.ts';

/** A developer in the sandbox, who needs no person. */
export interface Tenant {
  readonly apiKey: string;
  readonly developerId: string;
  readonly grants: readonly HeldGrant[];
}

interface HeldGrant {
  readonly agentId: string;
  readonly agentDid: string;
  readonly grantId: string;
  readonly grantToken: string;
  readonly refreshToken: string;
}

export const asked = {
  principalId: 'user_42',
  scopes: ['calendar:read', 'email:send', 'github:read', 'tool:crm:read'],
  expiresIn: '30d',
};

/** A tool without caps, so that a call of it asks no meter. */
const manifest = {
  $schema: 'urn:service:manifest:0.6',
  connector: 'crm',
  tools: { lookup: { permission: 'read' } },
};

/** @param grants each of an agent of its own */
export async function signUp(port: number, grantCount = CONNECTIONS): Promise<Tenant> {
  const client = await openClient(port);
  const call = async (path: string, body: object, apiKey?: string) =>
    JSON.parse(
      (await demand(client, { method: 'POST', path, body, ...(apiKey && { apiKey }) }, 201)).toString(),
    );
  const { apiKey, developerId } = await call('/v1/signup', { name: 'Bench', mode: 'sandbox' });
  const credential = { principalId: asked.principalId, service: 'github', accessToken: 'x'.repeat(40) };
  await call('/v1/vault/credentials', credential, apiKey);
  const registered = { method: 'PUT', path: `/v1/manifests/${manifest.connector}`, body: manifest, apiKey };
  await demand(client, registered, 201);
  const grants: HeldGrant[] = [];
  for (let each = 0; each < grantCount; each += 1) {
    const { agentId, did: agentDid } = await call('/v1/agents', { name: `Agent ${each}` }, apiKey);
    const { code } = await call('/v1/authorize', { agentId, ...asked }, apiKey);
    const { grantId, grantToken, refreshToken } = await call('/v1/token', { code, agentId }, apiKey);
    grants.push({ agentId, agentDid, grantId, grantToken, refreshToken });
  }
  client.close();
  return { apiKey, developerId, grants };
}

/** Some connections share a grant when there are more connections than grants. */
export function heldBy({ grants }: Tenant, connection: number): HeldGrant {
  return turnOf(grants, connection);
}

/** Deals things out to numbered connections. */
export function turnOf<Thing>(things: readonly Thing[], connection: number): Thing {
  const thing = things[connection % things.length];
  if (thing === undefined) throw new Error('There is nothing to deal out.');
  return thing;
}

/** Copies a grant many times, each copy with a token, as the service would write them. @returns the ids */
export async function makeGrants(db: pg.Client, grantId: string, count: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `with made as (
      insert into grants
      select copy.* from (${NEW_IDS}) n, grants g, jsonb_populate_record(g, jsonb_build_object('id', n.id,
        'root_grant_id', n.id, 'auth_request_id', null)) copy
      where g.id = $1
      returning developer_id, id, issued_at, expires_at
    ), tokens_made as (
      insert into tokens select developer_id, 'tok' || substr(id, 5), id, issued_at, expires_at, null from made
    )
    select id from made`,
    [grantId, count],
  );
  return rows.map(({ id }) => id);
}

/** Writes the 26 signs of a ULID: they grow with the time, and end at random. */
export const NEW_ULID = `'0' || upper(lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 11, '0')
  || lpad(to_hex(each), 5, '0') || substr(md5(random()::text), 1, 9))`;

const NEW_IDS = `select 'grnt_' || ${NEW_ULID} as id from generate_series(1, $2::integer) each`;

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
