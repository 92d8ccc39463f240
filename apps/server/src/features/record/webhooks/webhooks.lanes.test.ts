import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import {
  deliveriesOf,
  dispatcherOf,
  registerWebhook,
  type SendingOptions,
  startWithWebhooks,
} from '../../../../test/app/deliveries.ts';
import { registerAgent } from '../../../../test/app/flow.ts';
import { startReceiver } from '../../../../test/app/receiver.ts';
import { type Developer, newDatabase } from '../../../../test/app/start-app.ts';
import {
  claimSharesAcrossTenants,
  listDueDevelopersAcrossTenants,
  slowEndpoint,
} from './webhooks.deliveries.repo.ts';

const until = (isSo: () => unknown) => vi.waitFor(isSo, { timeout: 20_000, interval: 20 });

/** An hour is longer than any test: an attempt without an answer ends with its test. */
const NEVER = 3600;

/** The service has a database of its own, so that no other test's deliveries take a place. */
const startAlone = async (sending: SendingOptions = {}) => {
  const options = { databaseUrl: await newDatabase(), env: { RATE_LIMIT_WEBHOOK_WRITE: '1000' } };
  return startWithWebhooks(options, {
    timeoutMilliseconds: NEVER * 1000,
    promptSeconds: NEVER,
    ...sending,
  });
};

/** A receiver that accepts each request and answers none, until the test lets it go. */
async function startSilent() {
  const receiver = await startReceiver();
  receiver.answer(() => {});
  const letGo = () => {
    receiver.answer((request) => request.socket.destroy());
    receiver.server.closeAllConnections();
  };
  return { ...receiver, letGo };
}

const register = async (developer: Developer, url: string, count: number) => {
  for (let at = 0; at < count; at += 1) await registerWebhook(developer, url, ['agent.created']);
};

/** Developers with endpoints that never answer, and an event for each endpoint. */
async function strangersOf(
  { asDeveloper }: Awaited<ReturnType<typeof startAlone>>,
  { count, endpoints = 30, url }: { count: number; endpoints?: number; url: string },
) {
  for (let at = 0; at < count; at += 1) {
    const stranger = await asDeveloper({ mode: 'sandbox' });
    await register(stranger, url, endpoints);
    await registerAgent(stranger);
  }
}

describe('S9: developers whose endpoints never answer', () => {
  test.each([
    [2, 13, 24],
    [4, 30, 40],
    [10, 6, 40],
  ])(
    '%i of them, with %i endpoints each, hold %i places, and the next developer’s first delivery leaves at once',
    async (count, endpoints, places) => {
      const service = await startAlone();
      const { acme, asDeveloper, begin, stop } = service;
      const silent = await startSilent();
      const [old, fresh] = [await startReceiver(), await startReceiver()];
      await registerWebhook(acme, old.url, ['agent.created']);
      await strangersOf(service, { count, endpoints, url: silent.url });
      await begin();
      await until(() => expect(silent.received).toHaveLength(places));

      await registerAgent(acme);
      await begin();
      await until(() => expect(old.received).toHaveLength(1));
      const newcomer = await asDeveloper({ mode: 'sandbox' });
      await registerWebhook(newcomer, fresh.url, ['agent.created']);
      await registerAgent(newcomer);
      await begin();
      await until(() => expect(fresh.received).toHaveLength(1));

      expect(silent.received).toHaveLength(places);
      const stopped = stop();
      silent.letGo();
      await stopped;
    },
  );

  test('give a place in the prompt lane back after two seconds, and then count in both lanes', async () => {
    const service = await startAlone({ promptSeconds: 0.05 });
    const { db, begin, stop } = service;
    const silent = await startSilent();
    await strangersOf(service, { count: 5, url: silent.url });

    await begin();

    // Each of the five has a quarter of the places under way, more together than the lane has.
    await until(() => expect(silent.received).toHaveLength(60));
    const lanes = async () =>
      (
        await db
          .selectFrom('webhookEndpoints')
          .select(['isPrompt', (eb) => eb.fn.countAll<string>().as('count')])
          .groupBy('isPrompt')
          .orderBy('isPrompt')
          .execute()
      ).map(({ isPrompt, count }) => [isPrompt, Number(count)]);
    await until(async () =>
      expect(await lanes()).toEqual([
        [false, 60],
        [true, 90],
      ]),
    );
    await begin();
    expect(silent.received).toHaveLength(60);
    const stopped = stop();
    silent.letGo();
    await stopped;
  });

  test('go beyond a quarter of the places while nothing of another developer is due', async () => {
    const service = await startAlone();
    const { acme, begin, stop } = service;
    const silent = await startSilent();
    for (const received of [15, 30]) {
      await register(acme, silent.url, 15);
      await registerAgent(acme);
      await begin();
      await until(() => expect(silent.received).toHaveLength(received)); // one place for each new endpoint
    }

    const stopped = stop();
    silent.letGo();
    await stopped;
  });
});

test('an attempt that becomes late moves its endpoint and what waits for it, while it goes on', async () => {
  const { acme, db, deliver, begin, idle } = await startAlone({ promptSeconds: 0.2 });
  const receiver = await startReceiver();
  const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
  await registerAgent(acme);
  await deliver();
  const answers: (() => void)[] = [];
  receiver.answer((_, response) => void answers.push(() => response.writeHead(204).end()));
  for (let at = 0; at < 7; at += 1) await registerAgent(acme);
  const lanes = async () => {
    const rows = await db
      .selectFrom('webhookDeliveries')
      .select('isPrompt')
      .where('status', '=', 'pending')
      .execute();
    return rows.map(({ isPrompt }) => isPrompt);
  };
  expect(await lanes()).toEqual(Array(7).fill(true));

  await begin();

  await until(() => expect(answers).toHaveLength(5));
  await until(async () => expect(await lanes()).toEqual(Array(7).fill(false)));
  const attempted = (await deliveriesOf(acme, webhookId)).filter(({ attempts }) => attempts > 0);
  expect(attempted).toHaveLength(1); // the first delivery: the five have no outcome yet
  receiver.answer((_, response) => void response.writeHead(204).end());
  for (const answer of answers) answer();
  await idle();
  expect((await deliveriesOf(acme, webhookId)).map(({ status }) => status)).toEqual(
    Array(8).fill('delivered'),
  );
});

test('a new endpoint begins in the prompt lane', async () => {
  const { acme, db } = await startAlone();
  const { webhookId } = await registerWebhook(acme, 'https://hooks.acme.test/', ['agent.created']);

  await registerAgent(acme);

  const lanes = db.selectFrom('webhookDeliveries').select('isPrompt').where('webhookId', '=', webhookId);
  expect(await lanes.execute()).toEqual([{ isPrompt: true }]);
});

describe('a claim', () => {
  test('gives the endpoints of a developer their turns', async () => {
    const { acme, db, clock, deliver } = await startAlone();
    const receiver = await startReceiver();
    await register(acme, receiver.url, 3);
    await registerAgent(acme);
    await deliver(); // each endpoint may have five places now
    await registerAgent(acme);
    await registerAgent(acme);
    const turns: string[] = [];

    for (let turn = 0; turn < 6; turn += 1) {
      const share = { developerId: acme.developerId, after: turns.at(-1) ?? '', places: 1 };
      const [claimed] = await claimSharesAcrossTenants(db, clock(), true, [share]);
      turns.push(String(claimed?.webhookId));
    }

    expect(new Set(turns.slice(0, 3)).size).toBe(3);
    expect(turns.slice(3)).toEqual(turns.slice(0, 3));
  });

  test('finds a developer after its last turn, around to the developer of that turn', async () => {
    const { asDeveloper, db, clock, acme } = await startAlone();
    const others = [await asDeveloper({ mode: 'sandbox' }), await asDeveloper({ mode: 'sandbox' })];
    for (const developer of [acme, ...others]) {
      await register(developer, 'https://hooks.acme.test/', 1);
      await registerAgent(developer);
    }
    const [first = '', second = '', third = ''] = [acme, ...others]
      .map(({ developerId }) => developerId)
      .sort();
    const due = (after: string, { except = [] as string[], most = 9, isPrompt = true } = {}) =>
      listDueDevelopersAcrossTenants(db, clock(), { isPrompt, after, except, most });

    expect(await due('')).toEqual([first, second, third]);
    expect(await due(first)).toEqual([second, third, first]);
    expect(await due(third)).toEqual([first, second, third]);
    expect(await due(first, { most: 2 })).toEqual([second, third]);
    expect(await due(second, { except: [third] })).toEqual([first, second]);
    expect(await due('', { isPrompt: false })).toEqual([]);
  });

  test('passes a disabled endpoint over, and an endpoint with its places taken', async () => {
    const { acme, asDeveloper, db, clock, service } = await startAlone();
    const other = await asDeveloper({ mode: 'sandbox' });
    const { webhookId } = await registerWebhook(acme, 'https://hooks.acme.test/', ['agent.created']);
    await acme('PATCH', `/v1/webhooks/${webhookId}`, { status: 'disabled' });
    await register(other, 'https://hooks.acme.test/', 1);
    for (const developer of [acme, other, other]) await registerAgent(developer);
    const search = { isPrompt: true, after: '', except: [], most: 9 };
    const due = () => listDueDevelopersAcrossTenants(db, clock(), search);
    expect(await due()).toEqual([other.developerId]);

    const share = { developerId: other.developerId, after: '', places: 9 };
    expect(await claimSharesAcrossTenants(db, clock(), true, [share])).toHaveLength(1);

    expect(await due()).toEqual([]);
    service.advance(60);
    expect(await due()).toEqual([other.developerId]);
  });

  test('reads a few rows by their indexes, however many are due of one developer', async () => {
    const { acme, asDeveloper, db, clock } = await startAlone();
    const other = await asDeveloper({ mode: 'sandbox' });
    for (const developer of [acme, other]) {
      await register(developer, 'https://hooks.acme.test/', 1);
      await registerAgent(developer);
    }
    await sql`insert into webhook_deliveries (developer_id, webhook_id, id, event_id, event_type, envelope,
        max_attempts, created_at, next_attempt_at, is_prompt)
      select developer_id, webhook_id, 'whd_' || n, 'evt_' || n, event_type, '{}', 5, created_at, next_attempt_at, true
      from webhook_deliveries, generate_series(1, 5000) as n where developer_id = ${acme.developerId}`.execute(
      db,
    );

    const read = await db.transaction().execute(async (tx) => {
      const search = { isPrompt: true, after: '', except: [], most: 9 };
      const due = await listDueDevelopersAcrossTenants(tx, clock(), search);
      const shares = due.map((developerId) => ({ developerId, after: '', places: 9 }));
      const claimed = await claimSharesAcrossTenants(tx, clock(), true, shares);
      expect(claimed).toHaveLength(2);
      for (const delivery of claimed) await slowEndpoint(tx, delivery);
      const { rows } = await sql<{ inOrder: number; byIndex: number }>`
        select seq_tup_read::integer as in_order, idx_tup_fetch::integer as by_index
        from pg_stat_xact_user_tables where relname = 'webhook_deliveries'`.execute(tx);
      return rows[0];
    });

    expect(read?.inOrder).toBe(0);
    expect(read?.byIndex).toBeGreaterThan(500); // a move takes so many at a time
    expect(read?.byIndex).toBeLessThan(1100);
  });
});

test('two dispatchers together keep to the places of an endpoint', async () => {
  const { acme, service, begin, stop } = await startAlone();
  const other = dispatcherOf(service, { timeoutMilliseconds: NEVER * 1000, promptSeconds: NEVER });
  const silent = await startSilent();
  await register(acme, silent.url, 6);
  for (let at = 0; at < 3; at += 1) await registerAgent(acme);

  await Promise.all([begin(), other.begin(), begin(), other.begin()]);
  await until(() => expect(silent.received).toHaveLength(6));
  await Promise.all([begin(), other.begin()]);

  expect(silent.received).toHaveLength(6);
  const stopped = Promise.all([stop(), other.stop()]);
  silent.letGo();
  await stopped;
});
