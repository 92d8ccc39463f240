import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Executor, inTransaction } from '../../src/platform/db/db.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { startAccountsServer } from '../app/accounts-server.ts';
import { authorize, grantTo, openSession } from '../app/flow.ts';
import { provisionerOf } from '../app/scim.ts';
import { addOidc, besideProvider, signOn } from '../app/signing-on.ts';
import { newDatabase, startApp } from '../app/start-app.ts';

/** With an index at this many rows, Postgres uses the index at more. */
const ROWS = process.env.TEST_LONG ? 100_000 : 10_000;

const MAX_SECONDS = 120; // a table of the long run takes ten to fill

/** A database of one session, which holds the statistics and plans without looking at the values. */
async function openPlanned() {
  const databaseUrl = await newDatabase();
  const db = openDatabase({ connectionString: databaseUrl }, 1, undefined, { silence: MAX_SECONDS * 1000 });
  onTestFinished(() => db.destroy());
  await sql
    .raw(
      'do $$ begin execute format($q$alter database %I set plan_cache_mode = force_generic_plan$q$, current_database()); end $$',
    )
    .execute(db);
  return { databaseUrl, db };
}

/** @returns a way to make a call and learn which of the large tables it read from end to end */
const lookingAt =
  (db: Executor, tables: readonly string[]) =>
  async (
    call: () => PromiseLike<{ readonly statusCode: number }>,
  ): Promise<[status: number, tables: string[]]> => {
    const before = await wholeReads(db, tables);
    const { statusCode } = await call();
    const after = await wholeReads(db, tables);
    return [
      statusCode,
      [...after].filter(([table, reads]) => before.get(table) !== reads).map(([table]) => table),
    ];
  };

/** How often each large table was read from end to end. */
async function wholeReads(db: Executor, tables: readonly string[]): Promise<Map<string, string>> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ table: string; reads: string }>`
    select relname as table, seq_scan as reads from pg_stat_user_tables where n_live_tup >= ${ROWS}`.execute(
    db,
  );
  expect(rows.map(({ table }) => table).sort()).toEqual([...tables].sort());
  return new Map(rows.map(({ table, reads }) => [table, reads]));
}

vi.setConfig({ testTimeout: MAX_SECONDS * 1000 });

const TABLES = [
  'scim_users',
  'scim_user_emails',
  'scim_principals',
  'scim_groups',
  'scim_members',
  'sso_identities',
  'sso_sessions',
  'principal_sessions',
  'auth_requests',
  'grants',
  'tokens',
  'vault_credentials',
];

test(`at ${ROWS} people of one developer no look-up or change of one person reads a whole table`, async () => {
  const provider = await startAccountsServer();
  const { databaseUrl, db } = await openPlanned();
  const service = await startApp({ ...besideProvider(), databaseUrl, dbAs: () => db });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const groupMappings = { Admirals: ['calendar:read'] };
  await addOidc(acme, provider, { scimManaged: true, groupMappings });
  const idp = await provisionerOf(service, acme);
  const emails = [{ value: 'ada@acme.test' }];
  const ada = { userName: 'ada@acme.test', externalId: 'ada', displayName: 'Ada', emails };
  const { id: userId } = (await idp('POST', '/Users', ada)).json();
  const group = { displayName: 'Admirals', externalId: 'g1', members: [{ value: userId }] };
  const { id: groupId } = (await idp('POST', '/Groups', group)).json();
  const { agentId } = await grantTo(acme, { principalId: 'ada' });
  await authorize(acme, agentId, { principalId: 'ada', autoApprove: false });
  await openSession(acme, 'ada');
  const credential = { principalId: 'ada', service: 'github', credentialType: 'oauth2', accessToken: 'x' };
  await acme('POST', '/v1/vault/credentials', credential);
  const logIn = () => signOn(service, provider, { org: acme.developerId });
  await logIn();
  await fill(db);

  const look = lookingAt(db, TABLES);
  const looks: [name: string, status: number, wholes: string[]][] = [];
  const whole = async (name: string, call: Parameters<typeof look>[0]) =>
    looks.push([name, ...(await look(call))]);
  const filters = {
    Users: [
      ...['userName eq "ADA@acme.test"', 'externalId eq "ada"', 'displayName eq "ada"', `id eq "${userId}"`],
      ...['emails.value eq "ada@acme.test"', 'emails[value eq "ada@acme.test" and type pr]'],
      ...['active eq false', 'meta.created gt "2999-01-01T00:00:00Z"'],
      ...['meta.lastModified gt "2999-01-01T00:00:00Z"', `groups.value eq "${groupId}"`],
    ],
    Groups: [
      ...['displayName eq "admirals"', 'externalId eq "g1"', `id eq "${groupId}"`],
      `members.value eq "${userId}"`,
    ],
  };
  for (const [kind, texts] of Object.entries(filters)) {
    for (const text of texts) {
      await whole(text, () => idp('GET', `/${kind}?filter=${encodeURIComponent(text)}`));
    }
  }
  const patch = (path: string, value: object) =>
    idp('PATCH', path, { Operations: [{ op: 'replace', value }] });
  const user = `/Users/${userId}`;
  await whole('see a user', () => idp('GET', user));
  await whole('see a group', () => idp('GET', `/Groups/${groupId}`));
  await whole('add a user', () => idp('POST', '/Users', { userName: 'grace' }));
  await whole('rename a user', () => patch(user, { userName: 'countess', displayName: 'Countess' }));
  await whole('rename a group', () => patch(`/Groups/${groupId}`, { displayName: 'Captains' }));
  await whole('map a group', () => patch(`/Groups/${groupId}`, { displayName: 'Admirals' }));
  await whole('ask for a person', () =>
    acme('POST', '/v1/authorize', { agentId, principalId: 'ada', scopes: ['calendar:read'] }),
  );
  await whole('sign in', async () => ({ statusCode: (await logIn()).mappedScopes.length * 200 }));
  await whole('see sessions', () => acme('GET', '/v1/sso/sessions?principalId=ada'));
  await whole('deactivate', () => patch(user, { active: false }));
  await whole('activate', () => patch(user, { active: true }));
  await whole('delete a user', () => idp('DELETE', user));
  await whole('delete a group', () => idp('DELETE', `/Groups/${groupId}`));

  const answers: Record<string, number> = { 'add a user': 201, 'ask for a person': 201 };
  const deletions: Record<string, number> = { 'delete a user': 204, 'delete a group': 204 };
  expect(looks).toEqual(looks.map(([name]) => [name, { ...answers, ...deletions }[name] ?? 200, []]));
});

/** Copies a row of each table for many other people, who are in one group each. */
async function fill(db: Executor): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx); // without looks at foreign keys
    for (const table of TABLES.map((name) => sql.table(name))) {
      await sql`insert into ${table} select copied.*
        from (select t as one, to_jsonb(t) as j from ${table} t limit 1) first
        cross join generate_series(1, ${sql.lit(ROWS)}) n
        cross join lateral jsonb_populate_record(one, jsonb_build_object(
          'id', coalesce(j->>'id', '') || n, 'user_id', j->>'user_id' || n, 'group_id', j->>'group_id' || n,
          'user_name', 'person-' || n, 'display_name', 'person-' || n, 'external_id', 'person-' || n,
          'address', 'person-' || n, 'folded', 'person-' || n, 'principal_id', 'person-' || n,
          'subject', 'person-' || n, 'grant_id', j->>'grant_id' || n, 'root_grant_id', j->>'root_grant_id' || n,
          'auth_request_id', null)) copied`.execute(tx);
    }
  });
  await sql.raw(`vacuum analyze ${TABLES.join(', ')}`).execute(db);
}
