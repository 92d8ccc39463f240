import { createHash, randomUUID } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { openChain, recordActs } from '../../src/features/record/audit/index.ts';
import type { Caller } from '../../src/platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../src/platform/db/db.ts';
import { FOLDED, lookAtSchema, migrate } from '../../src/platform/db/migrate.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { newDatabase, startApp } from '../app/start-app.ts';
import { execute } from '../servers/postgres.ts';

const source = join(import.meta.dirname, '../../migrations');
const files = globSync('*.sql', { cwd: source }).sort();

/** An empty database, as a first start finds it. */
async function emptyDatabase(): Promise<string> {
  const server = new URL(inject('templateUrl'));
  const name = `empty_${randomUUID().replaceAll('-', '')}`;
  await execute(new URL('postgres', server).href, `create database ${name}`);
  return new URL(name, server).href;
}

/** The migrations, in a folder that a test may change. */
function copiedMigrations(): string {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(source, folder, { recursive: true });
  return folder;
}

async function rowsOf<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client
    .query<Row>(statement)
    .then(
      ({ rows }) => rows,
      (error) => Promise.reject(error),
    )
    .finally(() => client.end());
}
const journalOf = (url: string) =>
  rowsOf<{ name: string; sha256: string }>(url, 'select name, sha256 from schema_migrations order by name');
const tablesOf = async (url: string) =>
  (
    await rowsOf<{ name: string }>(url, "select tablename as name from pg_tables where schemaname = 'public'")
  ).map(({ name }) => name);

describe('migrations', () => {
  test('are applied in the order of their names, and remembered with their checksums', async () => {
    const url = await emptyDatabase();

    await migrate({ connectionString: url });

    const sha256 = (name: string) =>
      createHash('sha256')
        .update(readFileSync(join(source, name)))
        .digest('hex');
    expect(await journalOf(url)).toEqual(files.map((name) => ({ name, sha256: sha256(name) })));
    for (const name of files) expect(name).toMatch(/^\d{3}_[a-z0-9_]+\.sql$/);
    expect(new Set(files.map((name) => name.slice(0, 3))).size).toBe(files.length);
  });

  test('are applied once, however many processes start, and how often', async () => {
    const url = await emptyDatabase();
    const start = () => migrate({ connectionString: url });

    await Promise.all([start(), start(), start()]);
    await start();

    expect((await journalOf(url)).map(({ name }) => name)).toEqual(files);
  });

  test('include the columns of purposes, which may be empty', async () => {
    expect(files).toContain('095_purpose_bound_grants.sql');
    const columns = await rowsOf<{ nullable: string }>(
      await newDatabase(),
      "select is_nullable as nullable from information_schema.columns where column_name = 'purpose'",
    );
    expect(columns.length).toBeGreaterThan(2);
    for (const { nullable } of columns) expect(nullable).toBe('YES');
  });

  test('stop the start when a file was changed after it was applied', async () => {
    const folder = copiedMigrations();
    const url = await emptyDatabase();
    await migrate({ connectionString: url }, { migrations: folder });

    writeFileSync(join(folder, '002_members.sql'), '-- changed');

    await expect(migrate({ connectionString: url }, { migrations: folder })).rejects.toThrow(
      'migration 002_members.sql was changed after it was applied',
    );
  });

  test('stop an earlier release when a later one was there', async () => {
    const folder = copiedMigrations();
    writeFileSync(join(folder, '999_later.sql'), 'select 1');
    const url = await emptyDatabase();
    await migrate({ connectionString: url }, { migrations: folder });

    await expect(migrate({ connectionString: url })).rejects.toThrow('database is newer than this release');
  });

  /** A database with the schema of today and the journal of an earlier checkout, which made it in steps. */
  async function databaseOfSteps(steps: readonly string[]): Promise<string> {
    const url = await emptyDatabase();
    await migrate({ connectionString: url });
    const names = steps.map((name) => `('${name}', 'then')`).join();
    await execute(
      url,
      `delete from schema_migrations where name < '150' and name <> '095_purpose_bound_grants.sql';
       insert into schema_migrations (name, sha256) values ${names}`,
    );
    return url;
  }

  test('are known where a database has all the steps that they replace, and do not run', async () => {
    const url = await databaseOfSteps(FOLDED);
    const look = await lookAtSchema({ connectionString: url });
    const start = () => migrate({ connectionString: url });

    await Promise.all([start(), start()]);

    expect(look).toMatchObject({ applied: files.length, pending: [], fault: undefined });
    expect((await journalOf(url)).map(({ name }) => name)).toEqual(files);
    await start();
  });

  test('stop the start where a database has only some of the steps that they replace', async () => {
    const url = await databaseOfSteps(FOLDED.slice(0, -1));
    const before = await journalOf(url);

    const fault =
      'database is of before 149_offboardings.sql: start the last checkout that has this file, and then this release';
    expect(await lookAtSchema({ connectionString: url })).toMatchObject({ fault });
    await expect(migrate({ connectionString: url })).rejects.toThrow(fault);
    expect(await journalOf(url)).toEqual(before);
  });

  test('leave nothing of a file that fails, and keep the files before it', async () => {
    const folder = copiedMigrations();
    writeFileSync(join(folder, '999_later.sql'), 'create table half_made (); select no_such_function()');
    const url = await emptyDatabase();

    await expect(migrate({ connectionString: url }, { migrations: folder })).rejects.toThrow(
      'no_such_function',
    );

    expect((await journalOf(url)).map(({ name }) => name)).toEqual(files);
    expect(await tablesOf(url)).not.toContain('half_made');
    writeFileSync(join(folder, '999_later.sql'), 'create table whole ()');
    await migrate({ connectionString: url }, { migrations: folder });
    expect(await tablesOf(url)).toContain('whole');
  });
});

describe('the schema', () => {
  /**
   * Tables without a tenant of their own: the journals, the developers, and the indexes that find a
   * developer.
   */
  const exempt = [
    'schema_migrations',
    'schema_functions',
    'developers',
    'api_key_index',
    'agent_index',
    'email_verification_index',
    'verified_emails',
    'verified_domains',
    'scim_token_index',
    'resource_index',
    'tlog_index',
    'billing_customers',
    'ssf_receivers',
    'ssf_tokens',
    'dynamic_clients', // registered before any developer knows them
    'signing_keys',
    'service_did_documents',
    'operator_head',
    'operator_entries',
  ];

  const lint = `
    with tables as (
      select c.oid, c.relname::text as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relname::text = any ($1)),
    tenant as (
      select attrelid, attnum, attnotnull from pg_attribute where attname = 'developer_id' and not attisdropped)
    select name, 'has no developer_id' as fault from tables where tables.oid not in (select attrelid from tenant)
    union all select name, 'may have no developer' from tables join tenant on attrelid = tables.oid where not attnotnull
    union all select name, 'has a unique key that does not begin with the developer: ' || i.indexrelid::regclass
      from tables join tenant on attrelid = tables.oid join pg_index i on i.indrelid = tables.oid
      where i.indisunique and i.indkey[0] <> attnum
    union all select name, 'refers to a table without the developer: ' || k.conname
      from tables join tenant on attrelid = tables.oid join pg_constraint k on k.conrelid = tables.oid and k.contype = 'f'
      where attnum <> all (k.conkey)
    union all select name, 'takes numbers from a sequence: ' || a.attname
      from tables join pg_attribute a on a.attrelid = tables.oid and not a.attisdropped
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like 'nextval(%'
    union all select name, 'has no primary key' from tables
      where not exists (select from pg_index i where i.indrelid = tables.oid and i.indisprimary)
    union all select c.relname, 'has the trigger ' || g.tgname
      from pg_trigger g join pg_class c on c.oid = g.tgrelid where not g.tgisinternal
    order by 1, 2`;

  /** The audit log takes no change but an erasure, and the operator's chain takes none. */
  const TRIGGERS = [
    'audit_entries has the trigger append_only',
    'audit_entries has the trigger erase_only',
    'audit_erased has the trigger append_only',
    'operator_entries has the trigger append_only',
  ];

  const faultsIn = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(lint, [exempt]).finally(() => client.end());
    return rows.map(({ name, fault }) => `${name} ${fault}`);
  };

  test('can be sharded: each row, key and reference names a developer, and only audit chains have triggers', async () => {
    expect(await faultsIn(await newDatabase())).toEqual(TRIGGERS);
  });

  test('fails that check with tables that cannot be sharded', async () => {
    const url = await newDatabase();
    await execute(
      url,
      `create table careless (id bigserial unique, developer_id text);
       create table more_careless (id text primary key)`,
    );

    expect(await faultsIn(url)).toEqual([
      ...TRIGGERS.slice(0, -1),
      'careless has a unique key that does not begin with the developer: careless_id_key',
      'careless has no primary key',
      'careless may have no developer',
      'careless takes numbers from a sequence: id',
      'more_careless has no developer_id',
      ...TRIGGERS.slice(-1),
    ]);
  });

  test('names the owner of each table', () => {
    for (const name of files) {
      const text = readFileSync(join(source, name), 'utf8');
      for (const [, before = ''] of text.matchAll(/((?:^--.*\n|^create type[^;]*;\n)*)^create table/gm))
        expect([name, before]).toEqual([name, expect.stringMatching(/^-- Owner: [\w/-]+\./m)]);
    }
  });
});

describe('I1: statements', () => {
  const repositories = globSync(join(import.meta.dirname, '../../src/features/*/*/*.{repo,queries}.ts'));
  const functionsOf = (path: string) =>
    readFileSync(path, 'utf8')
      .split(/^(?=(?:export )?(?:async )?function )/m)
      .slice(1)
      .map((text) => ({ path: basename(path), name: /function (\w+)/.exec(text)?.[1] ?? '', text }));
  const functions = repositories.flatMap(functionsOf);

  /** Their tables belong to the whole service, and have no tenant. */
  const OF_THE_SERVICE = [
    ...['documents.repo.ts', 'keys.repo.ts', 'operator.repo.ts'],
    ...['deleteDynamicClient', 'renewDynamicClient'], // RFC 7591: a client that registered itself
  ];

  test('name the tenant, or say in their name that they do not', () => {
    const careless = functions.filter(
      ({ path, name, text }) =>
        text.startsWith('export') &&
        !OF_THE_SERVICE.includes(path) &&
        !OF_THE_SERVICE.includes(name) &&
        !/AcrossTenants$/.test(name) &&
        !/developerId|'developers'|tenant: Tenant|: Reach\b|session: PrincipalSession/.test(text),
    );

    expect(careless.map(({ path, name }) => `${path} ${name}`)).toEqual([]);
    expect(functions.length).toBeGreaterThan(30);
  });

  test('span tenants only to find the tenant, at start-up, and in jobs', () => {
    const across = functions.filter(({ name }) => /AcrossTenants$/.test(name));

    expect(across.map(({ name }) => name).sort()).toEqual([
      'addActivityAcrossTenants',
      'addFailuresAcrossTenants',
      'addUsageAcrossTenants',
      'byMailAcrossTenants',
      'claimSharesAcrossTenants',
      'countAgentsAcrossTenants',
      'countContradictedAcrossTenants',
      'countDevelopersAcrossTenants',
      'countGrantsAcrossTenants',
      'countHaltedAcrossTenants',
      'countPendingAcrossTenants',
      'countSealedOtherwiseAcrossTenants',
      'countSetsAcrossTenants',
      'countWaitingAcrossTenants',
      'deleteActivityBeforeAcrossTenants',
      'deleteDecidedAcrossTenants',
      'deleteFailuresBeforeAcrossTenants',
      'deleteOldAcrossTenants',
      'deleteOldCallsAcrossTenants',
      'deleteOldProxyCallsAcrossTenants',
      'deleteOldTokensAcrossTenants',
      'deleteUnusedClientsAcrossTenants',
      'deleteUsageBeforeAcrossTenants',
      'developerOfResourceAcrossTenants',
      'developersAcrossTenants',
      'failingQueuesAcrossTenants',
      'findAgentAcrossTenants',
      'findClientAcrossTenants',
      'findConnectionAcrossTenants',
      'findDiscoveredAcrossTenants',
      'findDynamicClientAcrossTenants',
      'findFlipsAcrossTenants',
      'findHolderAcrossTenants',
      'findKeyAcrossTenants',
      'findKeyOwnerAcrossTenants',
      'findLinkAcrossTenants',
      'findListAcrossTenants',
      'findOAuthClientAcrossTenants',
      'findPayerAcrossTenants',
      'findReceiverAcrossTenants',
      'findSeededAcrossTenants',
      'findSourceAcrossTenants',
      'findStatusAcrossTenants',
      'findTokenAcrossTenants',
      'findTokenAcrossTenants',
      'findVerificationAcrossTenants',
      'isVerifiedAcrossTenants',
      'listClosedAcrossTenants',
      'listConnectionsUnderAcrossTenants',
      'listDevelopersAcrossTenants',
      'listDisconnectingAcrossTenants',
      'listDueAcrossTenants',
      'listDueAcrossTenants',
      'listDueAcrossTenants',
      'listDueAcrossTenants',
      'listDueDevelopersAcrossTenants',
      'listDueDigestsAcrossTenants',
      'listDueSessionsAcrossTenants',
      'listExpiredAcrossTenants',
      'listFailingAcrossTenants',
      'listFirstsAcrossTenants',
      'listForgottenAcrossTenants',
      'listGraceOverAcrossTenants',
      'listInactiveAcrossTenants',
      'listMeteredAcrossTenants',
      'listNewAcrossTenants',
      'listPeopleAcrossTenants',
      'listProvidersUnderAcrossTenants',
      'listRetainingAcrossTenants',
      'listRunningAcrossTenants',
      'listSealedOtherwiseAcrossTenants',
      'listSealedOtherwiseAcrossTenants',
      'listSealedOtherwiseAcrossTenants',
      'listSealedUnderAcrossTenants',
      'listStreamsAcrossTenants',
      'listUnannouncedExpiriesAcrossTenants',
      'listUncheckedAcrossTenants',
      'listUnevenAcrossTenants',
      'listUnsignedHeadsAcrossTenants',
      'listUnwatchedAcrossTenants',
      'listUnwitnessedAcrossTenants',
      'lockSeedingAcrossTenants',
      'nextConnectionKeyAcrossTenants',
      'nextKeyIdAcrossTenants',
      'nextProviderKeyAcrossTenants',
      'ownerOfDomainAcrossTenants',
      'resourceServerAcrossTenants',
      'retentionAcrossTenants',
      'setMaxAttemptsAcrossTenants',
      'setSetAttemptsAcrossTenants',
    ]);
  });

  test('are never put together from text', () => {
    const sources = globSync(join(import.meta.dirname, '../../src/**/*.ts')).filter(
      (path) => !path.endsWith('.test.ts'),
    );
    const raw = sources.filter((path) => /sql\.(raw|lit)\b|\.query\(`/.test(readFileSync(path, 'utf8')));

    expect(raw).toEqual([]);
    expect(sources.length).toBeGreaterThan(80);
  });
});

/** A point at which two functions wait for each other. */
function meeting(count: number) {
  let arrived = 0;
  let meet = () => {};
  const all = new Promise<void>((resolve) => {
    meet = resolve;
  });
  return () => {
    arrived += 1;
    if (arrived === count) meet();
    return all;
  };
}

test('a transaction that Postgres ends in a deadlock is repeated', async () => {
  const { db, asDeveloper } = await startApp();
  const [a, b] = [await asDeveloper(), await asDeveloper()];
  const bothHoldOne = meeting(2);
  let attempts = 0;
  const rename = (tx: Tx, { developerId }: { developerId: string }) =>
    tx.updateTable('developers').set({ name: 'Renamed' }).where('id', '=', developerId).execute();
  const otherIsDone = Promise.withResolvers<void>(); // the loser would meet it again on a busy machine
  const crosswise = async (first: typeof a, second: typeof a) => {
    let isRepeated = false;
    await inTransaction(db, async (tx) => {
      if (isRepeated) await otherIsDone.promise;
      isRepeated = true;
      await rename(tx, first);
      attempts += 1;
      await bothHoldOne();
      await rename(tx, second);
    });
    otherIsDone.resolve();
  };

  await Promise.all([crosswise(a, b), crosswise(b, a)]);

  expect(attempts).toBe(3);
  expect((await b('GET', '/v1/me')).json().name).toBe('Renamed');
});

test('a transaction that fails for another reason is not repeated', async () => {
  const { db } = await startApp();
  let attempts = 0;

  const work = inTransaction(db, async (tx) => {
    attempts += 1;
    await sql`select no_such_column`.execute(tx);
  });

  await expect(work).rejects.toThrow('no_such_column');
  expect(attempts).toBe(1);
});

describe('an act and its records', () => {
  const at = new Date('2026-01-01T00:00:00Z');
  const callerOf = (developerId: string): Caller => ({
    tenant: { developerId },
    agentIds: null,
    actor: 'developer:key_1',
    role: 'full',
    mode: 'live',
    plan: 'free',
    requestId: 'req_1',
  });
  const paused = (name: string) =>
    [{ type: 'agent.updated', agentId: 'ag_1', data: { name, changed: [] } }] as const;
  const countsOf = async (db: Executor, developerId: string) => {
    const entries = db.selectFrom('auditEntries').select('id').where('developerId', '=', developerId);
    const events = db.selectFrom('outboxEvents').select('id').where('developerId', '=', developerId);
    return [(await entries.execute()).length, (await events.execute()).length];
  };

  test('are committed together', async () => {
    const { db, asDeveloper } = await startApp();
    const { developerId } = await asDeveloper();

    await inTransaction(db, (tx) => recordActs(tx, callerOf(developerId), paused('one'), at));

    expect(await countsOf(db, developerId)).toEqual([2, 2]); // signing up was the first
  });

  test('are rolled back together', async () => {
    const { db, asDeveloper } = await startApp();
    const acme = await asDeveloper();

    const work = inTransaction(db, async (tx) => {
      await tx.updateTable('developers').set({ name: 'x' }).where('id', '=', acme.developerId).execute();
      await recordActs(tx, callerOf(acme.developerId), paused('one'), at);
      throw new Error('Something after it fails.');
    });

    await expect(work).rejects.toThrow('Something after it fails.');
    expect(await countsOf(db, acme.developerId)).toEqual([1, 1]);
    expect((await acme('GET', '/v1/me')).json().name).toBe('Acme');
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true, head: { seq: 1 } });
  });

  test('are all rolled back when the entry fails', async () => {
    const { db, asDeveloper } = await startApp();
    const acme = await asDeveloper();
    await sql`update audit_heads set seq = 0 where developer_id = ${acme.developerId}`.execute(db);

    const refused = await acme('POST', '/v1/agents', { name: 'a' });
    await sql`update audit_heads set seq = 1 where developer_id = ${acme.developerId}`.execute(db);

    expect(refused.statusCode).toBe(500);
    expect((await acme('GET', '/v1/agents')).json().agents).toEqual([]);
    expect(await countsOf(db, acme.developerId)).toEqual([1, 1]);
    expect((await acme('POST', '/v1/agents', { name: 'a' })).statusCode).toBe(201);
  });

  test('are refused without a chain, and with an entry of another developer', async () => {
    const { db } = await startApp();

    const work = inTransaction(db, (tx) => recordActs(tx, callerOf('dev_nobody'), paused('one'), at));

    await expect(work).rejects.toThrow();
    const line = `{"developerId":"dev_b","timestamp":"`;
    await inTransaction(db, (tx) => openChain(tx, { developerId: 'dev_a' }));
    const foreign = sql`select * from audit_append('dev_a', now(),
      ${JSON.stringify([{ prefix: line, suffix: '}' }])}::jsonb)`.execute(db);
    await expect(foreign).rejects.toThrow('entry of another developer');
  });

  test('follow the order of several acts', async () => {
    const { db, asDeveloper } = await startApp();
    const acme = await asDeveloper();

    await inTransaction(db, (tx) =>
      recordActs(
        tx,
        callerOf(acme.developerId),
        [...paused('one'), ...paused('two'), ...paused('three')],
        at,
      ),
    );

    const { entries } = (await acme('GET', '/v1/audit/entries?action=agent.updated')).json();
    expect(entries.map(({ seq }: { seq: number }) => seq)).toEqual([2, 3, 4]);
    expect(entries.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
      'one',
      'two',
      'three',
    ]);
  });
});

test('a connection that Postgres ends is replaced, and the process goes on', async () => {
  const { db, asDeveloper, databaseUrl } = await startApp();
  const acme = await asDeveloper();
  await sql`select 1`.execute(db);

  await execute(
    databaseUrl,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );

  await expect.poll(async () => (await acme('GET', '/v1/me')).statusCode).toBe(200);
});

test('a pool opens no more connections than it may', async () => {
  const db = openDatabase({ connectionString: await newDatabase() }, 2);
  onTestFinished(() => db.destroy());

  const seen = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
      return rows[0]?.pid;
    }),
  );

  expect(new Set(seen).size).toBeLessThanOrEqual(2);
});
