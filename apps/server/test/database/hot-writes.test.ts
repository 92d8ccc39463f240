import { sql } from 'kysely';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Executor, inTransaction, type Tx } from '../../src/platform/db/db.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { authorize, entriesOf, grantTo, refusalOf, registerAgent, startSandbox } from '../app/flow.ts';
import { send } from '../app/repeating.ts';
import { statementsOf } from '../app/round-trips.ts';
import { newDatabase, startApp } from '../app/start-app.ts';
import { exchange, storeCredential } from '../app/vault.ts';

const asked = (agentId: string, principalId = 'user_42') => ({
  agentId,
  principalId,
  scopes: ['calendar:read'],
});

/** A database of its own, in which `trouble` runs when a request for this person is about to be committed. */
async function sandboxWithTrouble(trouble: string) {
  const service = await startSandbox({ databaseUrl: await newDatabase() });
  await sql
    .raw(
      `create function trouble() returns trigger language plpgsql as $$ begin ${trouble} return null; end $$;
       create constraint trigger trouble after insert on auth_requests deferrable initially deferred
         for each row when (new.principal_id = 'trouble') execute function trouble();`,
    )
    .execute(service.db);
  const { agentId } = await registerAgent(service.acme);
  return { ...service, agentId };
}

test('writes of every kind that wait for one chain share transactions, and the refused ones spoil no other', async () => {
  const { acme } = await startSandbox();
  const held = await Promise.all(Array.from({ length: 8 }, () => grantTo(acme)));
  const codes = await Promise.all(held.map(async ({ agentId }) => (await authorize(acme, agentId)).code));
  const used = String(codes[0]);
  await acme('POST', '/v1/token', { code: used, agentId: held[0]?.agentId });

  let refusals: string[] = [];
  const statements = await statementsOf(async () => {
    const answers = await Promise.all(
      held.flatMap(({ agentId, did, grantId, refreshToken, grantToken }, each) => [
        acme('POST', '/v1/authorize', asked(agentId)),
        acme('POST', '/v1/token', { code: codes[each], agentId }),
        acme('POST', '/v1/token/refresh', { refreshToken, agentId }),
        acme('POST', '/v1/token/refresh', { refreshToken, agentId }),
        acme('POST', '/v1/grants/delegate', {
          parentGrantToken: grantToken,
          subAgentId: agentId,
          scopes: ['calendar:read'],
        }),
        acme('POST', '/v1/audit/log', {
          agentId,
          agentDid: did,
          grantId,
          principalId: 'user_42',
          action: 'email.sent',
        }),
      ]),
    );
    refusals = answers.map((answer) => (answer.statusCode === 201 ? '201' : refusalOf(answer))).sort();
  });

  expect(refusals).toEqual([
    ...Array(39).fill('201'),
    '400 INVALID_GRANT code_used',
    ...Array(8).fill('400 INVALID_GRANT refresh_reused'),
  ]);
  expect(statements.filter((each) => each === 'write_together').length).toBeLessThan(24);
  expect(await entriesOf(acme, 'email.sent')).toHaveLength(8);
  expect(await entriesOf(acme, 'grant.created')).toHaveLength(8 + 8 + 8);
  expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
});

test('a write that Postgres fails costs those of its group nothing', async () => {
  const { acme, agentId } = await sandboxWithTrouble(`raise exception 'trouble';`);
  const people = Array.from({ length: 20 }, (_, each) => (each === 10 ? 'trouble' : `user_${each}`));

  const answers = await Promise.all(people.map((who) => acme('POST', '/v1/authorize', asked(agentId, who))));

  expect(answers.map(({ statusCode }) => statusCode)).toEqual(
    people.map((who) => (who === 'trouble' ? 500 : 201)),
  );
  expect(await entriesOf(acme, 'authorization.requested')).toHaveLength(19);
});

test('when the connection is lost in the commit, nobody is told of what is not there', async () => {
  const { acme, agentId, databaseUrl } = await sandboxWithTrouble(
    'perform pg_terminate_backend(pg_backend_pid());',
  );
  const people = Array.from({ length: 20 }, (_, each) => (each === 10 ? 'trouble' : `user_${each}`));

  const answers = await Promise.all(people.map((who) => acme('POST', '/v1/authorize', asked(agentId, who))));

  const made = answers.filter(({ statusCode }) => statusCode === 201);
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([201, 503]));
  expect(answers[10]?.statusCode).toBe(503);
  const db = openDatabase({ connectionString: databaseUrl }, 1); // a new connection
  onTestFinished(() => db.destroy());
  const ids = made.map((answer) => answer.json().id).sort();
  const requests = await db.selectFrom('authRequests').select('id').orderBy('id').execute();
  const acts = db.selectFrom('auditEntries').select('id').where('action', '=', 'authorization.requested');
  expect(requests.map(({ id }) => id)).toEqual(ids);
  expect(await acts.execute()).toHaveLength(ids.length);
});

test('a request with an `Idempotency-Key` shares its transaction with no other', async () => {
  const { acme, service, db } = await startSandbox();
  const { agentId } = await registerAgent(acme);

  await Promise.all(
    Array.from({ length: 10 }, (_, each) =>
      each % 2
        ? acme('POST', '/v1/authorize', asked(agentId))
        : send(service, {
            apiKey: acme.apiKey,
            method: 'POST',
            url: '/v1/authorize',
            body: asked(agentId, 'repeated'),
            key: String(each),
          }),
    ),
  );

  const { rows } = await sql<{ requests: string }>`select count(*) as requests from auth_requests
    where developer_id = ${acme.developerId}
    group by xmin::text having bool_or(principal_id = 'repeated')`.execute(db);
  expect(rows.map(({ requests }) => Number(requests))).toEqual([1, 1, 1, 1, 1]);
});

test('two instances write one chain in groups, and it is whole', async () => {
  const databaseUrl = await newDatabase();
  const [here, there] = [await startApp({ databaseUrl }), await startApp({ databaseUrl })];
  const acme = await here.asDeveloper({ mode: 'sandbox' });
  const elsewhere = Object.assign(there.calling(acme.apiKey), acme);
  const instances = [acme, elsewhere];
  const agents = await Promise.all(Array.from({ length: 6 }, () => registerAgent(acme)));

  const answers = await Promise.all(
    Array.from({ length: 48 }, async (_, each) => {
      const call = instances[each % 2] ?? acme;
      const agentId = String(agents[each % 6]?.agentId);
      const { code } = (await call('POST', '/v1/authorize', asked(agentId))).json();
      const { refreshToken, grantToken, grantId } = (
        await call('POST', '/v1/token', { code, agentId })
      ).json();
      const subAgentId = String(agents[(each + 1) % 6]?.agentId);
      const part = { parentGrantToken: grantToken, subAgentId, scopes: ['calendar:read'] };
      return [
        await call('POST', '/v1/token/refresh', { refreshToken, agentId }),
        await call('POST', '/v1/grants/delegate', part),
        await call('DELETE', `/v1/grants/${grantId}`),
      ].map(({ statusCode }) => statusCode);
    }),
  );

  expect(new Set(answers.map(String))).toEqual(new Set(['201,201,204']));
  expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
});

test('a group takes the locks of all its members first, in one order', async () => {
  const { acme } = await startSandbox();
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());

  const order = [
    ['share_agents'],
    ['lock_delegation'],
    ['share_delegation'],
    ['share_principals'],
    ['write_rotation'],
    ['write_delegation', 'revoke_tree'], // each locks the counter of grants
    ['write_request'], // locks the counter of requests, which exchanges lock after that of grants
  ];
  const groupsOf = () =>
    query.mock.calls
      .map(([first]: unknown[]): pg.QueryConfig => Object(first))
      .filter(({ name }) => name === 'write_together')
      .flatMap(({ values = [] }) => JSON.parse(values[0]))
      .filter(({ locks }) => locks.length > 0)
      .map(({ locks, writes }) => [...locks, ...writes].map(({ name }: { name: string }) => name))
      .map((names) => names.map((name) => order.findIndex((equals) => equals.includes(name))));

  // Which writes meet in a group is left to chance, so the four go on until a request has met one that locks.
  let groups: number[][] = [];
  for (let round = 0; round < 10 && !groups.flat().includes(order.length - 1); round += 1) {
    const held = await Promise.all(Array.from({ length: 4 }, () => grantTo(acme)));
    query.mockClear();
    await Promise.all(
      held.flatMap(({ agentId, grantId, refreshToken, grantToken }, each) => [
        acme('POST', '/v1/grants/delegate', {
          parentGrantToken: grantToken,
          subAgentId: held[(each + 1) % 4]?.agentId,
          scopes: ['calendar:read'],
        }),
        acme('POST', '/v1/token/refresh', { refreshToken, agentId }),
        acme('POST', '/v1/authorize', asked(agentId)),
        acme('DELETE', `/v1/grants/${grantId}`),
      ]),
    );
    groups = groupsOf();
  }

  expect(groups.length).toBeGreaterThan(0);
  expect(groups.flat()).toContain(order.length - 1);
  for (const places of groups) expect(places).toEqual([...places].sort((one, other) => one - other));
});

test('while exchanges of a credential wait for a lock, an authorization of the same account goes on', async () => {
  const service = await startSandbox();
  const { acme, db } = service;
  const { id } = await storeCredential(acme);
  const { agentId, grantToken } = await grantTo(acme, { scopes: ['github:read'] });

  let exchanges: Promise<{ statusCode: number }[]> | undefined;
  let authorized: number | undefined;
  await inTransaction(db, async (tx) => {
    await sql`select from vault_credentials where id = ${id} for update`.execute(tx);
    exchanges = Promise.all(Array.from({ length: 4 }, () => exchange(service, grantToken)));
    await vi.waitUntil(() => isWaitingForLock(db), { interval: 5 });
    authorized = (await acme('POST', '/v1/authorize', asked(agentId))).statusCode;
    expect(await isWaitingForLock(db)).toBe(true);
  });

  expect(authorized).toBe(201);
  expect((await exchanges)?.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
});

test('a group that waits for an agent holds no other one', async () => {
  const { acme, db } = await startSandbox();
  const agents = await Promise.all(Array.from({ length: 3 }, () => registerAgent(acme)));
  const [first = '', second = '', third = ''] = agents.map(({ agentId }) => agentId).sort();
  const lock = (tx: Tx, agentId: string) =>
    sql`select from agents where developer_id = ${acme.developerId} and id = ${agentId} for update nowait`.execute(
      tx,
    );

  let answers: Promise<{ statusCode: number }[]> | undefined;
  await inTransaction(db, async (tx) => {
    await lock(tx, first);
    // The one for the third agent goes alone, and the others share the next transaction.
    answers = Promise.all(
      [third, second, first].map((agentId) => acme('POST', '/v1/authorize', asked(agentId))),
    );
    await vi.waitUntil(() => isWaitingForLock(db), { interval: 5 });
    await lock(tx, second);
  });

  expect((await answers)?.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201]);
});

async function isWaitingForLock(db: Executor): Promise<boolean> {
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length > 0;
}
