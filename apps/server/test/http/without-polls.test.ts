import { expect, onTestFinished, test, vi } from 'vitest';
import { afterStatements } from '../app/after-statements.ts';
import { startWithWebhooks } from '../app/deliveries.ts';
import { grantTo, registerAgent } from '../app/flow.ts';
import { startListening } from '../app/listening.ts';
import { startReceiver } from '../app/receiver.ts';
import { startPolling } from '../app/receiving.ts';
import { newDatabase, startApp } from '../app/start-app.ts';
import { follow } from '../app/streams.ts';

vi.setConfig({ testTimeout: 60_000 }); // a lost wake is waited for

test('webhooks are sent after each act that makes one due, though no poll ever comes', async () => {
  const env = { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' };
  const { asDeveloper, startFeatures } = await startApp({ env, databaseUrl: await newDatabase() });
  const receiver = await startReceiver();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const hook = { url: receiver.url, events: ['agent.created'] };
  const { webhookId } = (await acme('POST', '/v1/webhooks', hook)).json();
  const sent = async (count: number) => {
    await vi.waitUntil(() => receiver.received.length >= count, { timeout: 15_000, interval: 10 });
    expect(receiver.received).toHaveLength(count);
  };

  await registerAgent(acme);
  startFeatures();
  await sent(1); // it was due before the start
  await registerAgent(acme);
  await sent(2);
  const { deliveryId } = (await acme('POST', `/v1/webhooks/${webhookId}/test`, {})).json();
  await sent(3);
  await vi.waitUntil(
    async () =>
      (await acme('GET', `/v1/webhooks/${webhookId}/deliveries?status=delivered`)).json().total === 3,
  );
  await acme('POST', `/v1/webhooks/${webhookId}/deliveries/${deliveryId}/redeliver`);
  await sent(4);
  await acme('PATCH', `/v1/webhooks/${webhookId}`, { status: 'disabled' });
  for (let each = 0; each < 12; each += 1) await registerAgent(acme); // more than there are places
  await acme('PATCH', `/v1/webhooks/${webhookId}`, { status: 'active' });
  await sent(16);
});

/** Makes intervals endless. Their first turn never comes. */
function withoutPolls() {
  const real = setInterval;
  const polls = vi.spyOn(globalThis, 'setInterval');
  polls.mockImplementation(((work: () => void) => real(work, 2 ** 30)) as typeof setInterval);
  onTestFinished(() => polls.mockRestore());
  return polls;
}

test('a stream gets events of its own process and of another one, though no poll ever comes', async () => {
  const databaseUrl = await newDatabase();
  const [here, there] = [await startListening({ databaseUrl }), await startApp({ databaseUrl })];
  const acme = await here.asDeveloper({ mode: 'sandbox' });
  const polls = withoutPolls();
  const stream = await follow({ url: here.url, apiKey: acme.apiKey });

  await registerAgent(acme);
  await stream.first(1);
  await registerAgent(Object.assign(there.calling(acme.apiKey), acme));
  await stream.first(2);
  await there.calling(acme.apiKey)('POST', '/v1/agents', { name: 'Third' });
  await stream.first(3);

  expect(polls.mock.calls.some(([, every]) => every === 1000)).toBe(true); // the poll would have come
});

test('a receiver that waits for a signal gets it at the commit, in its own process and in another one', async () => {
  const { acme, receiver, streamId, databaseUrl } = await startPolling({ databaseUrl: await newDatabase() });
  const there = (await startApp({ databaseUrl })).calling(acme.apiKey);
  const grants = [await grantTo(acme), await grantTo(acme)];
  const real = setTimeout;
  const looks = vi.spyOn(globalThis, 'setTimeout');
  const endless = (work: () => void, after?: number) => real(work, after === 1000 ? 2 ** 30 : after);
  looks.mockImplementation(endless as typeof setTimeout);
  onTestFinished(() => looks.mockRestore());

  for (const [index, call] of [acme, there].entries()) {
    looks.mockClear();
    const polling = receiver.call('POST', `/ssf/poll/${streamId}`, {});
    await vi.waitUntil(() => looks.mock.calls.some(([, after]) => after === 1000), { interval: 10 });
    const began = performance.now();
    await call('DELETE', `/v1/grants/${grants[index]?.grantId}`);
    expect(Object.keys((await polling).json().sets)).toHaveLength(1);
    expect(performance.now() - began).toBeLessThan(10_000); // a poll without a wake takes 30 seconds
  }
});

test('a delivery that became due while both lanes looked for some is sent at once', async () => {
  let looks = 0;
  const bothLooked = Promise.withResolvers<void>();
  let act = async () => {};
  const meanwhile = afterStatements('due_webhook_developers', async () => {
    looks += 1;
    if (looks === 2) await act();
    if (looks === 2) bothLooked.resolve();
    await bothLooked.promise;
  });
  const { acme, begin, idle } = await startWithWebhooks({ dbAs: (db) => db.withPlugin(meanwhile) });
  const receiver = await startReceiver();
  await acme('POST', '/v1/webhooks', { url: receiver.url, events: ['agent.created'] });
  act = async () => {
    await registerAgent(acme);
    void begin(); // as the wake of this commit does
  };

  await begin();
  await idle();

  expect(receiver.received).toHaveLength(1);
});
