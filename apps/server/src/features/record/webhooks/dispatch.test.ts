import { describe, expect, test, vi } from 'vitest';
import {
  deliveriesOf,
  dispatcherOf,
  registerWebhook,
  type ShownDelivery,
  startWithWebhooks,
} from '../../../../test/app/deliveries.ts';
import { registerAgent } from '../../../../test/app/flow.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { type Developer, newDatabase } from '../../../../test/app/start-app.ts';
import { stepping } from '../../../../test/app/steps.ts';
import { webhookHistory } from './webhooks.feature.ts';

/** The service has a database of its own, so that no other test's deliveries take a place, and no timeout. */
const startAlone = async (env: Readonly<Record<string, string>> = {}, promptSeconds = 60) =>
  startWithWebhooks(
    { databaseUrl: await newDatabase(), env },
    { timeoutMilliseconds: 60_000, promptSeconds },
  );

/** The statement that leases deliveries, as the steps of a test name it. */
const CLAIM = 'select * from claim_delivery_shares(…, …::interval, …, …, …,';

const until = (isSo: () => unknown) => vi.waitFor(isSo, { timeout: 20_000, interval: 20 });

const registerAgents = async (developer: Developer, count: number) => {
  for (let at = 0; at < count; at += 1) await registerAgent(developer);
};

const delivered = (deliveries: readonly ShownDelivery[]) =>
  deliveries.filter(({ status }) => status === 'delivered').length;

/** A receiver that answers only when the test says so. */
async function startHanging() {
  const receiver = await startReceiver();
  const answers: (() => void)[] = [];
  receiver.answer((_, response) => void answers.push(() => response.writeHead(204).end()));
  const answerAll = () => {
    for (const answer of answers.splice(0)) answer();
  };
  return { ...receiver, answers, answerAll };
}

describe('endpoints that do not answer', () => {
  test('hold up no other of their developer, however many there are', async () => {
    const { acme, deliver, begin, stop } = await startAlone({ PLAN_FREE_WEBHOOKS: '100' }, 0.2);
    const [good, dead] = [await startReceiver(), await startHanging()];
    const { webhookId } = await registerWebhook(acme, good.url, ['agent.created']);
    await registerAgent(acme);
    await deliver(); // the endpoint is now known as prompt
    for (let at = 0; at < 60; at += 1) await registerWebhook(acme, dead.url, ['agent.created']);

    await registerAgent(acme);
    await begin();
    await until(() => expect(dead.received).toHaveLength(60)); // more than their lane has places
    await registerAgents(acme, 11);
    await begin();
    await until(async () => expect(delivered(await deliveriesOf(acme, webhookId))).toBe(13));

    expect(dead.received).toHaveLength(60);
    expect(good.received).toHaveLength(13);
    dead.answer((request) => request.socket.destroy());
    dead.server.closeAllConnections();
    await stop();
  });

  test('get one delivery at a time, and five after they have answered', async () => {
    const { acme, db, begin, idle } = await startAlone();
    const receiver = await startHanging();
    await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgents(acme, 12);
    const leased = () =>
      db.selectFrom('webhookDeliveries').select('id').where('leasedUntil', 'is not', null).execute();

    await begin();
    await until(() => expect(receiver.answers).toHaveLength(1));
    await begin();
    expect(await leased()).toHaveLength(1);
    receiver.answerAll();
    await until(() => expect(receiver.answers).toHaveLength(5));
    await begin();
    expect(await leased()).toHaveLength(5);

    receiver.answer((_, response) => void response.writeHead(204).end());
    receiver.answerAll();
    await idle();
    expect(receiver.received).toHaveLength(12);
  });
});

test('all waiting deliveries of an endpoint change lanes with the endpoint', async () => {
  const { acme, db, deliver, advance } = await startAlone();
  const receiver = await startReceiver();
  const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
  await registerAgent(acme);
  await deliver();
  const lanes = async () => {
    const rows = await db
      .selectFrom('webhookDeliveries')
      .select('isPrompt')
      .where('status', '=', 'pending')
      .execute();
    return rows.map(({ isPrompt }) => isPrompt);
  };
  await registerAgents(acme, 8);
  expect(await lanes()).toEqual(Array(8).fill(true));

  receiver.answerStatus(500);
  await deliver();
  expect(await lanes()).toEqual(Array(8).fill(false));

  receiver.answerStatus(204);
  await registerAgents(acme, 4);
  await deliver();
  expect(await lanes()).toEqual(Array(8).fill(true)); // the deliveries that are due later
  advance(30);
  await deliver();
  expect(delivered(await deliveriesOf(acme, webhookId))).toBe(13);
});

describe('two dispatchers over one database', () => {
  test('send each event to each endpoint once', async () => {
    const { acme, service, deliver, failures } = await startAlone();
    const other = dispatcherOf(service);
    const receivers = [await startReceiver(), await startReceiver(), await startReceiver()];
    for (const { url } of receivers) await registerWebhook(acme, url, ['agent.created']);
    await registerAgents(acme, 30);

    await Promise.all([deliver(), other.deliver(), registerAgents(acme, 10)]);
    await Promise.all([deliver(), other.deliver()]);

    for (const { received } of receivers) {
      expect(received).toHaveLength(40);
      expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(40);
    }
    expect([...failures, ...other.failures]).toEqual([]);
  });

  test('take over the deliveries of a killed dispatcher when their leases end, and not before', async () => {
    const { acme, service, advance, begin, idle } = await startAlone();
    const receiver = await startHanging();
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgent(acme);
    await begin();
    await until(() => expect(receiver.answers).toHaveLength(1));
    const other = dispatcherOf(service);

    advance(59);
    await other.deliver();
    expect(receiver.received).toHaveLength(1);
    advance(1);
    const taken = other.deliver();
    await until(() => expect(receiver.answers).toHaveLength(2));
    // The first dispatcher comes back, and its outcome no longer counts.
    receiver.answers.shift()?.();
    await idle();
    expect(await deliveriesOf(acme, webhookId)).toMatchObject([{ status: 'pending', attempts: 0 }]);
    receiver.answerAll();
    await taken;

    expect(await deliveriesOf(acme, webhookId)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
    expect(receiver.received[0]?.headers['webhook-id']).toBe(receiver.received[1]?.headers['webhook-id']);
  });
});

describe('a dispatcher', () => {
  test('sends soon after it is woken', async () => {
    const { acme, wake } = await startAlone();
    const receiver = await startReceiver();
    await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgent(acme);

    for (let times = 0; times < 10; times += 1) wake();

    await until(() => expect(receiver.received).toHaveLength(1));
  });

  test('finishes its deliveries when it is stopped, and starts no more', async () => {
    const { acme, begin, stop } = await startAlone();
    const receiver = await startHanging();
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgents(acme, 3);
    await begin();
    await until(() => expect(receiver.answers).toHaveLength(1));

    const stopped = stop();
    receiver.answerAll();
    await stopped;
    await begin();

    expect(receiver.received).toHaveLength(1);
    expect(delivered(await deliveriesOf(acme, webhookId))).toBe(1);
  });

  test('gives back what it has just leased when it is stopped', async () => {
    const { acme, service } = await startAlone();
    const receiver = await startReceiver();
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgent(acme);
    const steps = stepping();
    const { begin, stop } = dispatcherOf({ ...service, db: steps.dbAs(service.db) });

    const { steps: taken } = await steps.walk(begin, CLAIM, async () => {
      void stop();
    });

    expect(taken).toContain(CLAIM);
    await dispatcherOf(service).deliver(); // another process, at once
    expect(await deliveriesOf(acme, webhookId)).toMatchObject([{ status: 'delivered' }]);
  });

  test('reports a failure of the service, and sends the other deliveries', async () => {
    const { acme, db, deliver, failures } = await startAlone();
    const [one, other] = [await startReceiver(), await startReceiver()];
    const broken = await registerWebhook(acme, one.url, ['agent.created']);
    await registerWebhook(acme, other.url, ['agent.created']);
    await registerAgent(acme);
    const { secret } = await db
      .selectFrom('webhookEndpoints')
      .select('secret')
      .where('id', '<>', broken.webhookId)
      .executeTakeFirstOrThrow();
    await db.updateTable('webhookEndpoints').set({ secret }).where('id', '=', broken.webhookId).execute();

    await deliver();

    expect(String(failures)).toContain(`The secret of ${broken.webhookId} opens under no configured key.`);
    expect(one.received).toEqual([]);
    expect(other.received).toHaveLength(1);
  });
});

test('deliveries are deleted after thirty days', async () => {
  const { acme, service, deliver, advance } = await startAlone();
  const receiver = await startReceiver();
  const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
  await registerAgent(acme);
  await deliver();
  const clean = () => webhookHistory(service).run(new AbortController().signal);

  advance(30 * 86_400);
  await clean();
  expect(await deliveriesOf(acme, webhookId)).toHaveLength(1);
  advance(1);
  await clean();
  expect(await deliveriesOf(acme, webhookId)).toEqual([]);
});
