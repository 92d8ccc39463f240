import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { authorize, entriesOf, refusalOf, registerAgent, startSandbox } from '../app/flow.ts';
import { send } from '../app/repeating.ts';
import { newDatabase } from '../app/start-app.ts';
import { relayTo } from '../servers/relay.ts';

/** The end of each answer of Postgres outside a transaction (`ReadyForQuery`, idle): what was asked is committed. */
const COMMITTED = Buffer.from('Z\0\0\0\x05I', 'latin1');

/** Another address of a Postgres, which can lose an answer after the commit: the connection ends in its place. */
async function losingPostgres(databaseUrl: string) {
  const url = new URL(databaseUrl);
  const port = Number(url.port);
  let isLost: ((asked: Buffer) => boolean) | undefined;
  const relay = await relayTo(
    () => port,
    (near, far) => {
      let isLosing = false;
      let end = Buffer.alloc(0);
      near.on('data', (asked) => {
        if (isLost?.(asked)) {
          isLost = undefined;
          isLosing = true;
        }
        far.write(asked);
      });
      far.on('data', (answer) => {
        if (!isLosing) near.write(answer);
        end = Buffer.concat([end, answer]).subarray(-COMMITTED.length);
        if (isLosing && end.equals(COMMITTED)) near.destroy();
      });
    },
  );
  onTestFinished(() => relay.close());
  url.port = String(relay.port);
  return {
    url: url.href,
    /** Loses the answer to the next bytes that pass the test, once. */
    loseAnswerTo(test: (asked: Buffer) => boolean) {
      isLost = test;
    },
    /** Whether those bytes have come. */
    hasLost: () => isLost === undefined,
  };
}

const AWAY = '503 SERVICE_UNAVAILABLE';
const asked = (agentId: string, principalId = 'user_42') => ({
  agentId,
  principalId,
  scopes: ['calendar:read'],
});

/** A service that reaches its database by an address that can lose answers. */
async function startLosing() {
  const databaseUrl = await newDatabase();
  const postgres = await losingPostgres(databaseUrl);
  const { acme, service } = await startSandbox({ databaseUrl: postgres.url });
  const direct = openDatabase({ connectionString: databaseUrl }, 1);
  onTestFinished(() => direct.destroy());
  /** How many requests each person has, and the events of all of them. */
  const written = async () => {
    const requests = await sql<{
      person: string;
      count: number;
    }>`select principal_id as person, count(*)::int as count
      from auth_requests where developer_id = ${acme.developerId} group by 1`.execute(direct);
    const events = await sql<{ count: number }>`select count(*)::int as count from outbox_events
      where developer_id = ${acme.developerId} and type = 'authorization.requested'`.execute(direct);
    return {
      requests: Object.fromEntries(requests.rows.map(({ person, count }) => [person, count])),
      events: events.rows[0]?.count,
    };
  };
  const { agentId } = await registerAgent(acme);
  return { acme, service, postgres, agentId, written };
}

test('a group whose answer is lost after the commit is answered 503, and each of its writes is there once', async () => {
  const { acme, postgres, agentId, written } = await startLosing();
  const people = Array.from({ length: 20 }, (_, each) => (each === 10 ? 'unlucky' : `user_${each}`));
  postgres.loseAnswerTo((bytes) => bytes.includes('write_together') && bytes.includes('unlucky'));

  const answers = await Promise.all(people.map((who) => acme('POST', '/v1/authorize', asked(agentId, who))));

  const outcomes = answers.map((answer) => (answer.statusCode === 201 ? '201' : refusalOf(answer)));
  expect(postgres.hasLost()).toBe(true);
  expect(outcomes[10]).toBe(AWAY);
  expect(new Set(outcomes)).toEqual(new Set(['201', AWAY]));
  expect(outcomes.filter((outcome) => outcome === AWAY).length, 'of one group').toBeGreaterThan(1);
  const each = Object.fromEntries(people.map((who) => [who, 1]));
  expect(await written()).toEqual({ requests: each, events: people.length });
  expect(await entriesOf(acme, 'authorization.requested')).toHaveLength(people.length);
  expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
});

test('I13: a request whose answer was lost after the commit gets it when it comes again with its `Idempotency-Key`', async () => {
  const { acme, service, postgres, agentId, written } = await startLosing();
  await authorize(acme, agentId, { principalId: 'user_1' }); // the connections are open
  const request = { apiKey: acme.apiKey, url: '/v1/authorize', body: asked(agentId) };
  postgres.loseAnswerTo((bytes) => bytes.includes('commit\0'));

  const lost = await send(service, request);
  const kept = await written();
  const again = await send(service, request);

  expect(postgres.hasLost()).toBe(true);
  expect(refusalOf(lost)).toBe(AWAY);
  expect(kept).toEqual({ requests: { user_1: 1, user_42: 1 }, events: 2 });
  expect([again.statusCode, again.headers['idempotency-replayed']]).toEqual([201, 'true']);
  expect(await written()).toEqual(kept);
  expect((await entriesOf(acme, 'authorization.requested')).length).toBe(2);
  const { id, code } = again.json();
  expect((await acme('GET', `/v1/authorize/${id}`)).json()).toMatchObject({ id });
  expect((await acme('POST', '/v1/token', { code, agentId })).statusCode).toBe(201);
});
