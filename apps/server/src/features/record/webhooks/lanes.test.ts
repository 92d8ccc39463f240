import { describe, expect, test, vi } from 'vitest';
import {
  deliveriesOf,
  dispatcherOf,
  registerWebhook,
  type SendingOptions,
  startWithWebhooks,
} from '../../../../test/app/deliveries.ts';
import { registerAgent } from '../../../../test/app/flow.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { type Developer, newDatabase } from '../../../../test/app/start-app.ts';

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

  test('give a place in the prompt lane back after two seconds, and count in both lanes until they end', async () => {
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

    silent.answerStatus(204);
    silent.server.closeAllConnections();
    await until(() => expect(silent.received).toHaveLength(150)); // late attempts count until their end
    await stop();
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

describe('the turns', () => {
  /** A receiver that keeps its answers until the test gives some of them. */
  async function startKeeping() {
    const receiver = await startReceiver();
    const kept: (() => void)[] = [];
    const keep = () => receiver.answer((_, response) => void kept.push(() => response.writeHead(204).end()));
    keep();
    const answer = (count: number) => {
      for (const give of kept.splice(0, count)) give();
    };
    const letGo = () => {
      receiver.answerStatus(204);
      answer(kept.length);
    };
    return { ...receiver, keep, answer, letGo };
  }

  test('let each developer in, and a developer beyond the places waits for one answer only', async () => {
    const { asDeveloper, begin, stop } = await startAlone();
    const receiver = await startKeeping();
    for (let at = 0; at < 52; at += 1) {
      const developer = await asDeveloper({ mode: 'sandbox' });
      await register(developer, receiver.url, 1);
      await registerAgent(developer);
      await registerAgent(developer);
    }
    const served = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).developerId)).size;
    await begin();
    await until(() => expect(receiver.received).toHaveLength(50));
    expect(served()).toBe(50);

    receiver.answer(2);
    await until(() => expect(receiver.received).toHaveLength(52));

    expect(served()).toBe(52);
    const stopped = stop();
    receiver.letGo();
    await stopped;
  });

  test('let each endpoint in, so that the last does not wait for the backlog of others', async () => {
    const { acme, deliver, begin, stop } = await startAlone();
    const receiver = await startKeeping();
    receiver.answerStatus(204);
    const paths = Array.from({ length: 9 }, (_, at) => `/hook/${at}`);
    for (const path of paths) await register(acme, new URL(path, receiver.url).href, 1);
    await registerAgent(acme);
    await deliver(); // each endpoint may have five places now
    receiver.keep();
    for (let at = 0; at < 6; at += 1) await registerAgent(acme);
    const before = receiver.received.length;
    const served = () => new Set(receiver.received.slice(before).map(({ path }) => path)).size;
    await begin();
    await until(() => expect(receiver.received).toHaveLength(before + 40));
    expect(served()).toBe(8);

    receiver.answer(1);
    await until(() => expect(receiver.received).toHaveLength(before + 41));

    expect(served()).toBe(9);
    const stopped = stop();
    receiver.letGo();
    await stopped;
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
