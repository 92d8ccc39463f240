import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { VERSION } from '../version.ts';
import { applyFunctions, isPending, type KnownFunction, readFunctions, standsSince } from './functions.ts';
import type { ConnectionOptions } from './open-database.ts';

/** Any constant will do, as long as every process of the product uses the same. */
export const MIGRATION_LOCK = 0x6265_6865;
const LOOK_TIMEOUT = 5_000; // milliseconds; an operator waits
const journals = `create table if not exists schema_migrations (
    name text primary key, sha256 text not null, applied_at timestamptz not null default now());
  create table if not exists schema_functions (
    name text primary key, sha256 text not null, signature text not null, release text not null, left_by text,
    applied_at timestamptz not null default now())`;

/**
 * The steps that the files before 150 replace. A database that has applied all of them has the schema of those files; none
 * was released.
 */
export const FOLDED: readonly string[] = `
  001_developers 002_agents 003_audit 004_events 005_quotas 006_authorization 007_grants 008_tokens
  009_principals 010_webhooks 011_idempotency 012_requests_of_a_principal 013_grants_of_a_token
  014_webhook_lanes 015_email_verifications 016_consent_mails 017_closed_accounts
  018_open_requests_are_counted 019_answers_belong_to_a_key 021_bound_keys 022_manifests 024_vault
  025_enforced_calls 027_budgets 028_usage 029_domains 030_billing 031_agents_of_status 034_vault_providers
  035_connections 036_vault_proxy 037_vault_proxy_calls 038_policies 039_policy_bundles
  040_keyed_fingerprints 041_subscription_version 042_anomalies 043_anomaly_channels 044_stopped_accounts
  046_policy_conditions 049_provider_look_up 050_scim 051_scim_groups 052_principals_in_any_case 053_sso
  056_proxy_usage 057_webhook_formats 058_legal_holds 059_audit_erasures 060_audit_checks 061_sso_keys
  063_signals 064_setup_links 066_passkeys 067_approvers 068_decisions 069_decision_notices
  070_verifiable_credentials 071_operator_entries 072_signing_keys 073_passports 074_wallet_authorizations
  075_oauth 076_people_indexes 077_signal_streams 078_cases_of_grants 079_service_did_documents
  080_described_clients 081_dynamic_clients 082_signal_transmitter 084_channels 085_assurance_by_sign_on
  086_decision_digests 087_identity_assertions 088_workloads 089_signal_verifications
  090_approver_recoveries 091_renewal_of_consent 093_authentication_of_people 094_tokens_for_resources
  096_caps 097_calls_of_decisions 098_news_of_streams 099_replaced_grants 103_customers_of_identities
  104_providers_of_identities 105_logout_hints 106_amounts_to_nine_decimals 107_refused_refreshes
  108_one_spelling_of_resources 109_one_index_for_a_key 110_vacuum_of_hot_tables 111_one_table_of_passkeys
  112_fewer_foreign_keys 113_arguments_that_bind 114_branding 116_proved_addresses 117_push_subscriptions
  118_words_of_scopes 119_members 120_member_passkeys 121_member_invitations 122_requests_and_actors
  123_people_by_prefix 125_attempts_of_deliveries 126_failed_requests 127_activity 128_due_detection
  130_denials_by_reason 132_policy_revisions 133_manifest_actor 135_recovered_members 136_changes_of_two
  137_recovery_codes 138_members_by_sso 140_protected_members 141_erased_people 142_transparency
  143_transparency_witnesses 145_consent_records 147_verifiers 149_offboardings
`
  .trim()
  .split(/\s+/)
  .map((name) => `${name}.sql`);
const AFTER_FOLDED = '150';

/** The files of a release's schema. */
export interface SchemaSource {
  /** The folder of the `NNN_name.sql`. */
  readonly migrations: string;
  /** The folder of the sources, with `*.sql` of functions at any depth. */
  readonly functions: string;
  readonly release: string;
}

const OWN: SchemaSource = {
  migrations: `${import.meta.dirname}/../../../migrations`,
  functions: `${import.meta.dirname}/../..`,
  release: VERSION,
};

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

interface Journals {
  /** The checksum of each migration that was applied, by its name. */
  readonly migrations: ReadonlyMap<string, string>;
  readonly functions: readonly KnownFunction[];
}

/**
 * Applies each `NNN_name.sql` that the journal lacks, in order, each in its own transaction; then all
 * functions that differ from this release, in one transaction. Many processes may start at once.
 * @throws when a file was edited after it was applied, or the database has had a later release.
 */
export async function migrate(options: ConnectionOptions, source: Partial<SchemaSource> = {}): Promise<void> {
  const { migrations: folder, functions: sources, release } = { ...OWN, ...source };
  const migrations = readMigrations(folder);
  const functions = readFunctions(sources);
  const client = new pg.Client(options);
  await client.connect();
  try {
    const found = await readJournals(client);
    const known = folded(found, migrations);
    refuse(faultOf(known, migrations, release));
    if (known !== found) await inLock(client, () => enterFolded(client, known));
    const missing = pendingOf(known, migrations);
    for (const migration of missing) await inLock(client, () => applyOnce(client, migration));
    if (missing.length > 0 || isPending(functions, known.functions, release)) {
      await inLock(client, async () => {
        const current = await readJournals(client);
        refuse(laterOf(current, migrations, release));
        await applyFunctions(client, functions, current.functions, release);
      });
    }
    await analyzeTables(client, missing.length > 0);
  } finally {
    await client.end(); // which also rolls back open work after a failure
  }
}

/**
 * Gathers statistics of the tables that have rows and no statistics, as after a restore, or of all that have rows. Autovacuum
 * would come to them within minutes, in which Postgres guesses how many rows a search finds.
 */
async function analyzeTables(client: pg.Client, all: boolean): Promise<void> {
  await client.query("set lock_timeout = '2s'"); // a start does not wait for a table that somebody else holds
  try {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I', relname) as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0
         and ($1 or reltuples = -1) order by relname`,
      [all],
    );
    for (const { name } of rows) await client.query(['analyze (skip_locked)', name].join(' '));
  } catch (error) {
    if (Object(error).code !== LOCK_NOT_AVAILABLE) throw error; // autovacuum comes to the tables later
  } finally {
    await client.query('reset lock_timeout');
  }
}

const LOCK_NOT_AVAILABLE = '55P03';

/** The schema of a database beside that of this release. */
export interface SchemaLook {
  /** How many migrations were applied. */
  readonly applied: number;
  /** The names of the migrations that the next start applies. */
  readonly pending: readonly string[];
  readonly hasPendingFunctions: boolean;
  /** The reason why the next start would refuse the database. */
  readonly fault: string | undefined;
}

/** Compares a database with this release, and changes nothing. @throws when it does not answer */
export async function lookAtSchema(options: ConnectionOptions): Promise<SchemaLook> {
  const { migrations: folder, functions: sources, release } = OWN;
  const migrations = readMigrations(folder);
  const client = new pg.Client({ ...options, connectionTimeoutMillis: LOOK_TIMEOUT });
  await client.connect();
  try {
    const known = folded(await readJournals(client), migrations);
    return {
      applied: known.migrations.size,
      pending: pendingOf(known, migrations).map(({ name }) => name),
      hasPendingFunctions: isPending(readFunctions(sources), known.functions, release),
      fault: faultOf(known, migrations, release)?.message,
    };
  } finally {
    await client.end();
  }
}

const pendingOf = (known: Journals, migrations: readonly Migration[]) =>
  migrations.filter(({ name }) => !known.migrations.has(name));

function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((name) => /^[0-9].*\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') };
    });
}

/** Reads the journals without a lock. A common start finds nothing to apply. */
async function readJournals(client: pg.Client): Promise<Journals> {
  const { rows } = await client.query("select to_regclass('schema_functions') is not null as is_there");
  if (!rows[0]?.is_there) return { migrations: new Map(), functions: [] };
  const migrations = await client.query('select name, sha256 from schema_migrations');
  const functions = await client.query(
    'select name, sha256, signature, release, left_by as "leftBy" from schema_functions',
  );
  return {
    migrations: new Map(migrations.rows.map(({ name, sha256 }) => [name, sha256])),
    functions: functions.rows,
  };
}

/** A journal with all steps that were folded, as it is with the files that replace them; any other as it is. */
function folded(known: Journals, migrations: readonly Migration[]): Journals {
  if (!FOLDED.every((name) => known.migrations.has(name))) return known;
  const journal = new Map(known.migrations);
  for (const name of FOLDED) journal.delete(name);
  for (const { name, sha256 } of migrations)
    if (name < AFTER_FOLDED && !journal.has(name)) journal.set(name, sha256);
  return { ...known, migrations: journal };
}

/** Another process may have done so since the journal was read. */
async function enterFolded(client: pg.Client, { migrations }: Journals): Promise<void> {
  await client.query('delete from schema_migrations where name = any ($1)', [FOLDED]);
  await client.query(
    'insert into schema_migrations (name, sha256) select * from unnest($1::text[], $2::text[]) on conflict do nothing',
    [[...migrations.keys()], [...migrations.values()]],
  );
}

const changed = (name: string) => new Error(`migration ${name} was changed after it was applied`);

/** Behind a pooler a session may serve other clients too, so the lock is held until the commit. */
async function inLock(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await client.query(journals);
  await work();
  await client.query('commit');
}

/** Another process may have applied it since the journal was read. */
async function applyOnce(client: pg.Client, { name, text, sha256 }: Migration): Promise<void> {
  const { rows } = await client.query('select sha256 from schema_migrations where name = $1', [name]);
  if (rows[0] && rows[0].sha256 !== sha256) throw changed(name);
  if (rows[0]) return;
  await client.query(text);
  await client.query('insert into schema_migrations (name, sha256) values ($1, $2)', [name, sha256]);
}

/** The reason why this release must not work with the database. */
function faultOf(known: Journals, migrations: readonly Migration[], release: string): Error | undefined {
  if (FOLDED.some((name) => known.migrations.has(name)))
    return new Error(
      `database is of before ${FOLDED.at(-1)}: start the last checkout that has this file, and then this release`,
    );
  for (const { name, sha256 } of migrations) {
    if (known.migrations.has(name) && known.migrations.get(name) !== sha256) return changed(name);
  }
  return laterOf(known, migrations, release);
}

/** An older release on a newer schema would write rows that the newer one does not expect. */
function laterOf(known: Journals, migrations: readonly Migration[], release: string): Error | undefined {
  const own = new Set(migrations.map(({ name }) => name));
  const hasLaterTables = [...known.migrations.keys()].some((name) => !own.has(name));
  return hasLaterTables || standsSince(known.functions, release)
    ? new Error('database is newer than this release')
    : undefined;
}

function refuse(fault: Error | undefined): void {
  if (fault) throw fault;
}
