import pg from 'pg';
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

const GROWN = 250_000; // rows in one statement
const AGENTS = 1000; // of all accounts, unless each of more accounts has one
const FILLERS = 6; // connections that fill at once

/** The size of a grown database, of all its accounts together. */
export interface Growth {
  readonly accounts: number;
  readonly grants: number;
  readonly entries: number;
}

/** On disk with their indexes, in bytes. */
export interface Sizes {
  readonly grants: number;
  readonly tokens: number;
  readonly entries: number;
}

/**
 * Fills a database that has only these tenants, by SQL alone and without indexes meanwhile: with more accounts, and for each
 * account grants, tokens and entries of the audit log of twenty days ago. No entry has a hash of its own.
 */
export async function grow(
  databaseUrl: string,
  tenants: readonly Tenant[],
  { accounts, grants: grantCount, entries: entryCount }: Growth,
): Promise<Sizes> {
  const pattern = tenants[0];
  const [held] = pattern?.grants ?? [];
  if (!pattern || !held) throw new Error('There is nothing to copy.');
  const { developerId } = pattern;
  await using cleanUp = new AsyncDisposableStack();
  const fillers: pg.Client[] = [];
  while (fillers.length < FILLERS) {
    const client = cleanUp.adopt(new pg.Client({ connectionString: databaseUrl }), (each) => each.end());
    await client.connect();
    await client.query('set session_replication_role = replica'); // no trigger and no check of a foreign key
    await client.query('set synchronous_commit = off');
    fillers.push(client);
  }
  const inTurns = async <T>(works: readonly T[], work: (client: pg.Client, each: T) => Promise<unknown>) => {
    const left = [...works];
    const take = async (client: pg.Client) => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await work(client, next);
    };
    await Promise.all(fillers.map(take));
  };
  const rangesOf = (count: number) =>
    Array.from({ length: Math.ceil(count / GROWN) }, (_, each) => [
      each * GROWN,
      Math.min((each + 1) * GROWN, count) - 1,
    ]);
  const [first] = fillers;
  if (!first) throw new Error('Nobody fills.');
  const indexes = (await first.query<{ name: string; definition: string }>(SECONDARY)).rows;
  for (const { name } of indexes) await first.query(`drop index ${name}`);
  const copy = async (
    client: pg.Client,
    name: string,
    { from, like, values = [], changed }: { from: string; like: string; values?: number[]; changed: object },
  ) => {
    const { rows } = await client.query<{ name: string }>(COLUMNS, [name]);
    const columns = rows.map((row) => row.name);
    const own = columns.map((column) => Object(changed)[column] ?? `t.${column}`);
    await client.query(`insert into ${name} (${columns}) select ${own} from ${from}, ${like} t`, values);
  };
  const one = (name: string, key = 'true') =>
    `(select * from ${name} where developer_id = '${developerId}' and ${key})`;

  const others = `generate_series(${tenants.length}, ${accounts - 1}) n`;
  const id = `left(t.id, 8) || lpad(n::text, length(t.id) - 8, '0')`;
  const itself = `(select * from developers where id = '${developerId}')`;
  await copy(first, 'developers', { from: others, like: itself, changed: { id } });
  const developer = `(select ${id} from developers t where t.id = '${developerId}')`;
  const head = { from: others, like: one('audit_heads'), changed: { developer_id: developer } };
  await copy(first, 'audit_heads', head);
  const agents = Math.max(1, Math.floor(AGENTS / accounts));
  const agent = `(select id from agents where developer_id = '${developerId}' order by id limit 1)`;
  await copy(first, 'agents', {
    from: `developers d, generate_series(1, ${agents}) n`,
    like: one('agents', `id = ${agent}`),
    changed: { developer_id: 'd.id', id: `left(t.id, 5) || lpad(n::text, length(t.id) - 5, '0')` },
  });
  for (const statement of PLACES) await first.query(statement);

  const per = (count: number) => Math.floor(count / accounts);
  const from = (count: number) =>
    `generate_series($1::bigint, $2::bigint) n
      join places p on p.account = n / ${per(count)} and p.agent = n % ${agents}`;
  const placed = { developer_id: 'p.developer_id', agent_id: 'p.agent_id', principal_id: PRINCIPAL };
  const grantId = newId('grnt', 'n');
  const entry = one('audit_entries', `action = 'grant.created' and grant_id = '${held.grantId}'`);
  const hash = `(select hash from ${entry})`;
  const copies = [
    {
      ...{ name: 'grants', like: one('grants', `id = '${held.grantId}'`), count: grantCount },
      changed: {
        ...{ ...placed, id: grantId, root_grant_id: grantId, auth_request_id: 'null' },
        issued_at: "t.issued_at - interval '20 days'",
      },
    },
    {
      ...{ name: 'tokens', like: one('tokens', `grant_id = '${held.grantId}'`), count: grantCount },
      changed: { developer_id: 'p.developer_id', id: newId('tok', 'n'), grant_id: grantId },
    },
    {
      ...{ name: 'audit_entries', like: entry, count: entryCount },
      changed: {
        ...placed,
        seq: `p.start + n % ${per(entryCount)} + 1`,
        id: newId('alog', 'n'),
        grant_id: newId('grnt', `(n * ${grantCount} / ${entryCount})`),
        at: "t.at - interval '20 days' + n * interval '1 microsecond'",
      },
    },
  ].map((each) => rangesOf(each.count).map((values) => ({ ...each, values })));
  // Those that fill one table at once wait for each other.
  const longest = Math.max(...copies.map(({ length }) => length));
  const mixed = Array.from({ length: longest }, (_, at) => copies.flatMap((some) => some[at] ?? [])).flat();
  await inTurns(mixed, (client, { name, count, ...rest }) =>
    copy(client, name, { from: from(count), ...rest }),
  );
  // The entries have no hash of their own, so each chain counts as checked up to its last one.
  await first.query(
    `update audit_heads set seq = seq + $1, hash = ${hash} where developer_id in (select developer_id from places)`,
    [per(entryCount)],
  );
  await first.query(`delete from audit_checks`);
  await first.query(`insert into audit_checks (developer_id, seq, hash, began_at, checked_at)
    select developer_id, seq, hash, now(), now() from audit_heads where developer_id in (select developer_id from places)`);
  await inTurns(indexes, (client, { definition }) => client.query(definition));
  await first.query('drop table places');
  await first.query('vacuum analyze');
  await first.query('checkpoint');
  const sizeOf = async (name: string) =>
    Number((await first.query(`select pg_total_relation_size('${name}') as bytes`)).rows[0]?.bytes);
  return {
    ...{ grants: await sizeOf('grants'), tokens: await sizeOf('tokens') },
    entries: await sizeOf('audit_entries'),
  };
}

/** Signs as of a ULID that is older than all that the service makes. */
const newId = (prefix: string, n: string) =>
  `'${prefix}_00' || lpad((${n})::text, 12, '0') || upper(substr(md5((${n})::text), 1, 12))`;

const PRINCIPAL = `'user_' || n % 100000`;

const SECONDARY = `select i.relname as name, pg_get_indexdef(i.oid) as definition
  from pg_index x join pg_class i on i.oid = x.indexrelid
  where x.indrelid in ('grants'::regclass, 'tokens'::regclass, 'audit_entries'::regclass) and not x.indisunique`;

const COLUMNS = `select attname as name from pg_attribute
  where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`;

/** Accounts and their agents, each numbered from 0, with the length of the account's chain. */
const PLACES = [
  `create table places as
  select dense_rank() over (order by a.developer_id) - 1 as account,
    row_number() over (partition by a.developer_id order by a.id) - 1 as agent,
    a.developer_id, a.id as agent_id, h.seq as start
  from agents a join audit_heads h using (developer_id)`,
  'analyze places', // or a batch would be inserted in another order than that of its keys
];
