import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { type Executor, inTransaction } from '../../src/platform/db/db.ts';
import { authorize, entriesOf, refusalOf, registerAgent } from '../app/flow.ts';
import { sentIn } from '../app/round-trips.ts';
import { type Developer, newDatabase, type Service, startApp } from '../app/start-app.ts';

interface Account {
  readonly developer: Developer;
  readonly agentId: string;
}

/** Accounts with an agent each, in a database of their own, after the service knows that they may share groups. */
async function startAccounts(count: number, databaseUrl?: string) {
  const service = await startApp({ databaseUrl: databaseUrl ?? (await newDatabase()) });
  const accounts: Account[] = await Promise.all(
    Array.from({ length: count }, async () => {
      const developer = await service.asDeveloper({ mode: 'sandbox' });
      return { developer, agentId: (await registerAgent(developer)).agentId };
    }),
  );
  await authorizeEach(accounts);
  return { service, accounts };
}

const asked = (agentId: string, principalId: string) => ({ agentId, principalId, scopes: ['calendar:read'] });

const authorizeEach = (accounts: readonly Account[], principalId = 'user_42') =>
  Promise.all(
    accounts.map(({ developer, agentId }) => developer('POST', '/v1/authorize', asked(agentId, principalId))),
  );

const expectWhole = async (accounts: readonly Account[]) => {
  for (const { developer } of accounts)
    expect((await developer('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
};

/** How many accounts share each group that `work` makes. */
async function accountsOfGroups(work: () => PromiseLike<unknown>): Promise<number[]> {
  const sent = (await sentIn(work)).filter(({ name }) => name === 'write_together');
  return sent.map(({ values = [] }) => JSON.parse(values[0]).length);
}

const statusesOf = (answers: readonly { statusCode: number }[]) =>
  answers.map(({ statusCode }) => statusCode);

test('writes of many accounts share transactions, and the refused ones spoil no other', async () => {
  const { accounts } = await startAccounts(12);
  const codes = await Promise.all(
    accounts.map(async ({ developer, agentId }) => (await authorize(developer, agentId)).code),
  );
  const [{ developer: first, agentId: firstAgent } = expect.fail()] = accounts;
  await first('POST', '/v1/token', { code: codes[0], agentId: firstAgent });

  let outcomes: string[] = [];
  const groups = await accountsOfGroups(async () => {
    const answers = await Promise.all(
      accounts.flatMap(({ developer, agentId }, each) => [
        developer('POST', '/v1/token', { code: codes[each], agentId }),
        developer('POST', '/v1/authorize', asked(agentId, 'other')),
      ]),
    );
    outcomes = answers.map((answer) => (answer.statusCode === 201 ? '201' : refusalOf(answer)));
  });

  expect(outcomes).toEqual(['400 INVALID_GRANT code_used', ...Array(23).fill('201')]);
  expect(Math.max(...groups)).toBeGreaterThan(1);
  expect(groups.length).toBeLessThan(16);
  for (const [each, { developer }] of accounts.entries()) {
    expect(await entriesOf(developer, 'grant.created'), `account ${each}`).toHaveLength(1);
    expect(await entriesOf(developer, 'authorization.requested')).toHaveLength(3);
  }
  await expectWhole(accounts);
});

test('a write that Postgres fails costs the other accounts nothing, and those of its own account neither', async () => {
  const { service, accounts } = await startAccounts(8);
  await sql`create function trouble() returns trigger language plpgsql
    as 'begin raise exception ''trouble''; end'`.execute(service.db);
  await sql`create trigger trouble after insert on auth_requests
    for each row when (new.principal_id = 'trouble') execute function trouble()`.execute(service.db);

  let answers: { statusCode: number }[] = [];
  const groups = await accountsOfGroups(async () => {
    answers = await Promise.all([
      ...accounts.map(({ developer, agentId }, each) =>
        developer('POST', '/v1/authorize', asked(agentId, each === 5 ? 'trouble' : 'user_1')),
      ),
      ...accounts.map(({ developer, agentId }) =>
        developer('POST', '/v1/authorize', asked(agentId, 'user_2')),
      ),
    ]);
  });

  expect(Math.max(...groups)).toBeGreaterThan(1);
  expect(groups.length).toBeLessThan(12);
  expect(statusesOf(answers)).toEqual(Array.from({ length: 16 }, (_, each) => (each === 5 ? 500 : 201)));
  for (const [each, { developer }] of accounts.entries()) {
    expect(await entriesOf(developer, 'authorization.requested')).toHaveLength(each === 5 ? 2 : 3);
  }
  await expectWhole(accounts);
});

test('while an account waits for a lock, the others are answered', async () => {
  const { service, accounts } = await startAccounts(8);
  const [slow = expect.fail(), ...others] = accounts;

  let late: Promise<{ statusCode: number }[]> | undefined;
  await inTransaction(service.db, async (tx) => {
    await sql`select from agents where developer_id = ${slow.developer.developerId} and id = ${slow.agentId}
      for update`.execute(tx);
    const all = [...others, slow, slow].map((account) => authorizeEach([account]));
    late = Promise.all(all.slice(-2)).then((answers) => answers.flat());
    for (const each of await Promise.all(all.slice(0, -2))) expect(statusesOf(each)).toEqual([201]);
    await vi.waitUntil(() => isWaitingForLock(service.db), { interval: 5 }); // its writes go alone by now

    const before = performance.now();
    for (let round = 0; round < 5; round += 1)
      expect(new Set(statusesOf(await authorizeEach(others)))).toEqual(new Set([201]));
    expect(performance.now() - before, 'the slow account is in no group with others').toBeLessThan(5_000);
  });

  expect(statusesOf((await late) ?? [])).toEqual([201, 201]);
  await expectWhole(accounts);
});

test('while the head of a chain is locked, the other accounts are answered', async () => {
  const { service, accounts } = await startAccounts(6);
  const [slow = expect.fail(), ...others] = accounts;

  let late: Promise<{ statusCode: number }[]> | undefined;
  await inTransaction(service.db, async (tx) => {
    await sql`select from audit_heads where developer_id = ${slow.developer.developerId} for update`.execute(
      tx,
    );
    const answers = authorizeEach(others);
    late = authorizeEach([slow]);
    expect(new Set(statusesOf(await answers))).toEqual(new Set([201]));
    await vi.waitUntil(() => isWaitingForLock(service.db), { interval: 5 });
  });

  expect(statusesOf((await late) ?? [])).toEqual([201]);
  await expectWhole(accounts);
});

test('two instances that get the accounts in opposite orders do not wait for each other in a circle', async () => {
  const databaseUrl = await newDatabase();
  const { service: here, accounts } = await startAccounts(8, databaseUrl);
  const there = await startApp({ databaseUrl });
  const elsewhere = accounts.map(({ developer, agentId }) => ({
    developer: Object.assign(there.calling(developer.apiKey), developer),
    agentId,
  }));
  const reversed = elsewhere.toReversed();
  await authorizeEach(reversed);

  for (let round = 0; round < 15; round += 1) {
    const answers = await Promise.all([
      authorizeEach([...accounts, ...accounts]),
      authorizeEach([...reversed, ...reversed]),
    ]);
    expect(new Set(statusesOf(answers.flat()))).toEqual(new Set([201]));
  }

  expect(await deadlocksIn(here)).toBe(0);
  for (const { developer } of accounts) {
    const { rows } = await sql<{ count: number }>`select count(*)::integer as count from audit_entries
      where developer_id = ${developer.developerId} and action = 'authorization.requested'`.execute(here.db);
    expect(rows[0]?.count).toBe(2 + 15 * 4);
  }
  await expectWhole(accounts);
});

test('the webhooks of some accounts of a group get the events of their own account', async () => {
  const { service, accounts } = await startAccounts(12);
  const listening = accounts.filter((_, each) => each % 3 === 1).map(({ developer }) => developer);
  for (const developer of listening) {
    const endpoint = { url: 'https://93.184.216.34/hook', events: ['authorization.*'] };
    expect((await developer('POST', '/v1/webhooks', endpoint)).statusCode).toBe(201);
  }

  const groups = await accountsOfGroups(() => authorizeEach([...accounts, ...accounts]));

  expect(Math.max(...groups)).toBeGreaterThan(1);
  const { rows } = await sql<{ developerId: string; type: string; isOwn: boolean }>`
    select d.developer_id as "developerId", d.event_type as type, e.envelope = d.envelope as "isOwn"
    from webhook_deliveries d
      left join outbox_events e on e.developer_id = d.developer_id and e.id = d.event_id
    order by d.developer_id`.execute(service.db);
  const ids = listening.map(({ developerId }) => developerId).sort();
  expect(rows.map(({ developerId }) => developerId)).toEqual(ids.flatMap((id) => Array(4).fill(id)));
  expect(rows.every(({ isOwn }) => isOwn)).toBe(true);
});

test('in a distributed database each account has groups of its own', async () => {
  const databaseUrl = await newDatabase();
  const { db } = await startApp({ databaseUrl });
  await inTransaction(db, async (tx) => {
    await sql`set local allow_system_table_mods = on`.execute(tx);
    await sql`insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      select 99999, 'citus', extowner, extnamespace, false, '13.0' from pg_extension limit 1`.execute(tx);
  });
  const { accounts } = await startAccounts(8, databaseUrl);

  const groups = await accountsOfGroups(() => authorizeEach([...accounts, ...accounts]));

  expect(new Set(groups)).toEqual(new Set([1]));
});

async function isWaitingForLock(db: Executor): Promise<boolean> {
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length > 0;
}

async function deadlocksIn({ db }: Service): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{
    deadlocks: number;
  }>`select deadlocks::integer as deadlocks from pg_stat_database
    where datname = current_database()`.execute(db);
  return rows[0]?.deadlocks ?? -1;
}
