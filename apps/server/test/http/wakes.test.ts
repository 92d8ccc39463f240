import { createVerifierKey, signPosition } from '@behest/protocol/revocation-statement';
import { sql } from 'kysely';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Executor } from '../../src/platform/db/db.ts';
import type { EphemeralStore } from '../../src/platform/redis/ephemeral-store.ts';
import { afterStatements } from '../app/after-statements.ts';
import { startWithWebhooks } from '../app/deliveries.ts';
import { callAs, callersOf, deletionsLast } from '../app/every-caller.ts';
import { operationOf } from '../app/every-route.ts';
import { grantTo, registerAgent } from '../app/flow.ts';
import { startListening } from '../app/listening.ts';
import { startPolling, startReceiver } from '../app/receiving.ts';
import { type Call, newDatabase, startApp } from '../app/start-app.ts';
import { follow } from '../app/streams.ts';

vi.setConfig({ testTimeout: 120_000 }); // every route is called, which takes long on a busy machine

/** Facts of each developer, as one text for each. */
async function factsOf(db: Executor, facts: string): Promise<Map<string, string>> {
  const { rows } = await sql.raw<{ developerId: string; fact: string }>(facts).execute(db);
  return new Map(rows.map(({ developerId, fact }) => [developerId, fact]));
}
const changed = (before: Map<string, string>, after: Map<string, string>) =>
  [...before.keys()].filter((developerId) => before.get(developerId) !== after.get(developerId));

/** Watches the transactions of this process. @returns whether the last that was begun is over */
function watchingCommits(): () => boolean {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => query.mockRestore());
  return () => {
    const texts = query.mock.calls.map(([first]: unknown[]) => String(Object(first).text ?? first));
    const last = texts.findLast((text) =>
      /^(begin.*|start transaction.*|commit|rollback)$/i.test(text.trim()),
    );
    return last === undefined || /^(commit|rollback)/i.test(last.trim());
  };
}

const EVENTS = 'select developer_id, event_seq::text as fact from audit_heads';
/** The facts of a developer and of its keys that authentication reads. */
const KEYS = `select d.id as developer_id, concat(d.mode, d.plan, d.closed_at, (select
    string_agg(concat(k.id, k.role, k.expires_at, k.revoked_at), ' ' order by k.id) from api_keys k where k.developer_id = d.id)) as fact from developers d`;

test('every route that writes events says so in its process, and every route that changes a key says so to all', async () => {
  const told = new Set<string>();
  const storeAs = (store: EphemeralStore): EphemeralStore => ({
    ...store,
    replaceVersion: (version) => {
      told.add(version.key);
      return store.replaceVersion(version);
    },
  });
  const service = await startApp({ databaseUrl: await newDatabase(), storeAs });
  const areCommitted = watchingCommits();
  const early = new Set<string>();
  service.notices.listen((developerIds) => {
    for (const developerId of developerIds) (areCommitted() ? told : early).add(developerId);
  });
  const callers = await callersOf(service);
  const { developerId } = callers.acme;
  /** Lifts what the walk over the routes has put on hold, because a hold keeps the account open. */
  const close = async () => {
    const { holds } = (await callers.acme('GET', '/v1/compliance/holds?standing=true')).json();
    for (const { id } of holds) await callers.acme('POST', `/v1/compliance/holds/${id}/release`);
    return callers.acme('POST', '/v1/me/close', { confirm: developerId });
  };
  const seen = { events: 0, keys: 0 };
  const untold: string[] = [];

  for (const route of deletionsLast(service)) {
    const operation = operationOf(route);
    const before = [await factsOf(service.db, EVENTS), await factsOf(service.db, KEYS)] as const;
    told.clear();
    await (operation === 'POST /v1/me/close' ? close() : callAs(callers, route));
    const ofEvents = changed(before[0], await factsOf(service.db, EVENTS));
    const withKeys = changed(before[1], await factsOf(service.db, KEYS));
    const isNew = operation === 'POST /v1/keys'; // nobody knows a new key
    const ofKeys = isNew ? [] : withKeys.map((id) => `bh:{developer:${id}}:version`);
    seen.events += ofEvents.length;
    seen.keys += ofKeys.length;
    const missing = [...ofEvents, ...ofKeys].filter((each) => !told.has(each));
    untold.push(...missing.map((each) => `${operation} ${each.replace(/dev_\w+/, 'dev_…')}`));
  }

  expect(untold).toEqual([]);
  expect([...early], 'told before the commit').toEqual([]);
  expect(seen).toEqual({
    events: expect.toSatisfy((count) => count > 15),
    keys: expect.toSatisfy((count) => count > 2),
  });
});

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

/** Makes the pause of a request that waits endless: it does not look by itself. */
function withoutLooks() {
  const real = setTimeout;
  const looks = vi.spyOn(globalThis, 'setTimeout');
  const endless = (work: () => void, after?: number) => real(work, after === 1000 ? 2 ** 30 : after);
  looks.mockImplementation(endless as typeof setTimeout);
  onTestFinished(() => looks.mockRestore());
  return looks;
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
  const looks = withoutLooks();

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

test('a revocation that waits ends at the last confirmation, in its own process and in another one', async () => {
  const databaseUrl = await newDatabase();
  const acme = await (await startApp({ databaseUrl })).asDeveloper({ mode: 'sandbox' });
  const there = (await startApp({ databaseUrl })).calling(acme.apiKey);
  const { publicKey, privateKey } = await createVerifierKey();
  const { verifierId } = (await acme('POST', '/v1/verifiers', { name: 'gateway', publicKey })).json();
  const renew = async (call: Call, body: object) =>
    (await call('PUT', `/v1/verifiers/${verifierId}/lease`, body)).json();
  await renew(acme, {});
  withoutLooks();

  for (const call of [acme, there]) {
    const { grantId } = await grantTo(acme);
    const began = performance.now();
    const answer = acme('DELETE', `/v1/grants/${grantId}?wait=confirmed`);
    const asked = await vi.waitUntil(async () => (await renew(acme, {})).asked, { interval: 10 });
    const position = await signPosition({ verifierId, ...asked }, privateKey, new Date());
    await renew(call, { position });

    expect((await answer).json().verifiers).toMatchObject([{ state: 'confirmed' }]);
    expect(performance.now() - began).toBeLessThan(10_000); // a wait without a wake takes 10 seconds
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
