import { sql } from 'kysely';
import type { Executor } from '../../src/platform/db/db.ts';

/** Columns that differ from run to run: random texts, durations, and positions in the order of events. */
const DIFFERENT = [
  'id',
  'hash',
  'prev_hash',
  'salt',
  'request_id',
  'seq',
  'head',
  'prefix',
  'secret',
  'previous_secret',
  'previous_secret_hash',
];
const ALSO_DIFFERENT = [
  'envelope',
  'jws',
  'seal_key_id',
  'answer_key',
  'fingerprint',
  'body',
  'duration_ms',
  'parts',
];
/** The texts of authenticators, and what they sign. */
const OF_PASSKEYS = ['user_handle', 'challenge', 'signed', 'credential_id', 'public_key'];
/** Places by chance, the bits at them, and texts that name them. `flips` counts the bits. */
const OF_CREDENTIALS = ['bits', 'status_list_idx', 'credential', 'authorization', 'pseudonym'];
/** Rows of approvers, and of the acts that their passkeys signed. */
const OF_APPROVERS = ['handle', 'invite_hash', 'device_hash', 'serial', 'nonce', 'evidence'];
const SEALED = [
  'secret_hash',
  'sealed',
  'token',
  'data_key',
  'access_token',
  'refresh_token',
  'client_secret',
  'secret_hash',
  'registration_token',
  'link_hash',
  'session_hash',
];

const ADDRESS = /[\w.-]+@[\w.-]+/g;
/** Runs share a database, and one developer at a time may hold a domain. */
const DOMAIN = /\bacme-\d+\.test\b/g;
const THUMBPRINT = /"[\w-]{43}"/g;
const ID = /\b[a-z]{2,8}_[0-9A-HJKMNP-TV-Z]{26}\b/gi; // an id of a user is also stored in lower case
/** Over salted parts. */
const COMMITMENT = /(?<="consentHash": ")[0-9a-f]{64}/g;
const UUID = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** The tables with rows of developers, whichever there are. They are the same in all databases of a run. */
let tables: Promise<string[]> | undefined;

async function listTables(db: Executor): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'developer_id' order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Everything that the database holds about a developer, and the order of the audit entries, without what is random. Two
 * runs that come to the same have the same census.
 */
export async function censusOf(db: Executor, developerId: string): Promise<string[]> {
  tables ??= listTables(db);
  const random = [...DIFFERENT, ...ALSO_DIFFERENT, ...OF_PASSKEYS, ...OF_CREDENTIALS, ...OF_APPROVERS];
  const left = sql.val([...random, ...SEALED]);
  const parts = (await tables).map(
    (name) => sql`select ${name} as name, (to_jsonb(t) - ${left}::text[])::text as held
      from ${sql.table(name)} t where developer_id = ${developerId}`,
  );
  const { rows } = await sql<{ name: string; held: string }>`${sql.join(parts, sql` union all `)}`.execute(
    db,
  );
  const chain = await sql<{ action: string }>`
    select action from audit_entries where developer_id = ${developerId} order by seq`.execute(db);
  const order = `the chain: ${chain.rows.map(({ action }) => action).join(', ')}`;
  return [...rows.map(({ name, held }) => `${name} ${withoutRandom(held)}`).sort(), order];
}

/** What tells for each table whether a row of a developer was written: the versions of its rows. */
export async function rowsOf(db: Executor, developerId: string): Promise<ReadonlyMap<string, string>> {
  tables ??= listTables(db);
  const parts = (await tables).map(
    (
      name,
    ) => sql`select ${name} as name, coalesce(string_agg(concat(ctid, ' ', xmin), ',' order by ctid), '') as rows
      from ${sql.table(name)} where developer_id = ${developerId}`,
  );
  const { rows } = await sql<{ name: string; rows: string }>`${sql.join(parts, sql` union all `)}`.execute(
    db,
  );
  return new Map(rows.map(({ name, rows: versions }) => [name, versions]));
}

const withoutRandom = (text: string) =>
  text
    .replace(ID, 'id')
    .replace(ADDRESS, 'address')
    .replace(DOMAIN, 'domain')
    .replace(THUMBPRINT, 'hash')
    .replace(UUID, 'uuid')
    .replace(COMMITMENT, 'commitment');
