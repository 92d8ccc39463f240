import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { entriesOf, grantTo } from '../../../../test/app/flow.ts';
import { CAEP, eventOf, newReceiver, newStream, SSF, startPolling } from '../../../../test/app/receiving.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { systemCaller } from '../../../platform/caller.ts';
import { commitNotices } from '../../../platform/db/commit-effects.ts';
import { AppError } from '../../../platform/errors.ts';
import { createWaits } from '../../record/events/index.ts';
import { thinQueue, webhookSeals } from '../../record/webhooks/index.ts';
import { type PollDeps, pollStream, type Waiting } from './poll.ts';

async function withRevoked(count: number) {
  const started = await startPolling();
  for (let made = 0; made < count; made += 1) {
    const { grantId } = await grantTo(started.acme);
    await started.acme('DELETE', `/v1/grants/${grantId}`);
    started.advance(1);
  }
  return started;
}

test('a signal comes again until it is acknowledged, and an acknowledgement counts once', async () => {
  const { poll, advance, acme, receiver } = await withRevoked(1);

  const first = await poll();
  const leased = await poll();
  advance(60);
  const again = await poll();
  await poll({ ack: again.jtis, maxEvents: 0 });
  await poll({ ack: again.jtis, maxEvents: 0 });
  advance(60);

  expect(first.jtis).toHaveLength(1);
  expect(leased.jtis).toEqual([]);
  expect(again.sets).toEqual(first.sets);
  expect((await poll()).jtis).toEqual([]);
  const url = `/v1/ssf/receivers/${receiver.receiverId}/deliveries`;
  const { deliveries } = (await acme('GET', url)).json();
  expect(deliveries).toMatchObject([
    { jti: first.jtis[0], eventType: 'grant.revoked', status: 'delivered', attempts: 1, lastError: null },
  ]);
  expect(JSON.stringify(deliveries)).not.toContain('user_42');
});

test('`maxEvents` bounds an answer, which says when there is more, and zero only acknowledges', async () => {
  const { poll, receiver, streamId } = await withRevoked(3);

  const some = await poll({ maxEvents: 2 });
  const rest = await poll({ ack: some.jtis });
  const none = await poll({ ack: rest.jtis, maxEvents: 0 });
  const all = await receiver.call('POST', `/ssf/poll/${streamId}`, {
    maxEvents: 500,
    returnImmediately: true,
  });

  expect([some.jtis.length, some.moreAvailable]).toEqual([2, true]);
  expect([rest.jtis.length, rest.moreAvailable]).toEqual([1, undefined]);
  expect(none).toMatchObject({ jtis: [], moreAvailable: undefined });
  expect(all.json()).toEqual({ sets: {} }); // the receiver takes more than the service ever sends at once
});

test('a signal that the receiver refuses has failed, under the name of its error', async () => {
  const { poll, advance, acme, receiver } = await withRevoked(2);
  const { jtis } = await poll();
  const [refused = '', odd = ''] = jtis;

  await poll({
    maxEvents: 0,
    setErrs: {
      [refused]: { err: 'invalid_audience', description: 'not mine' },
      [odd]: { err: '<script>' },
      set_unknown: { err: 'invalid_request' },
    },
  });
  advance(60);

  expect((await poll()).jtis).toEqual([]);
  const url = `/v1/ssf/receivers/${receiver.receiverId}/deliveries?status=failed`;
  const errors = (await acme('GET', url))
    .json()
    .deliveries.map((one: { lastError: string }) => one.lastError);
  expect(errors.sort()).toEqual(['set_error', 'set_invalid_audience']);
});

test("an acknowledgement of another stream's signal has no effect", async () => {
  const { poll, advance, service, receiver } = await withRevoked(1);
  const { jtis } = await poll();
  const other = await newStream(receiver);
  const stranger = await newReceiver(service, await service.asDeveloper());
  const foreign = await newStream(stranger);

  for (const [{ call }, { stream_id }] of [
    [receiver, other],
    [stranger, foreign],
  ] as const) {
    const answer = await call('POST', `/ssf/poll/${stream_id}`, { ack: jtis, returnImmediately: true });
    expect(answer.json()).toEqual({ sets: {} });
  }
  advance(60);

  expect((await poll()).jtis).toEqual(jtis);
});

test('the signals of one subject come one after another, also those of one instant', async () => {
  const { acme, poll, service } = await startPolling();
  const { token: scimToken } = (await acme('POST', '/v1/scim/tokens', { label: 'test' })).json();
  const scim = service.calling(scimToken);
  const { id } = (await scim('POST', '/scim/v2/Users', { userName: 'ada' })).json();
  const set = (active: boolean) =>
    scim('PATCH', `/scim/v2/Users/${id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value: active }],
    });
  for (let time = 0; time < 3; time += 1) {
    await set(false); // the clock stands still, so all of them are of one instant
    await set(true);
  }

  const order: string[] = [];
  for (;;) {
    const { signals, jtis } = await poll({ maxEvents: 100 });
    if (jtis.length === 0) break;
    expect(jtis).toHaveLength(1);
    order.push(...signals.map((signal) => eventOf(signal).uri.split('/').at(-1) ?? ''));
    await poll({ ack: jtis, maxEvents: 0 });
  }

  const round = ['session-revoked', 'account-disabled', 'account-enabled'];
  expect(order).toEqual([...round, ...round, ...round]);
});

test('a long poll is released by an event within a second, also when another instance wrote it', async () => {
  const { acme, receiver, streamId, databaseUrl } = await startPolling();
  const { grantId } = await grantTo(acme);
  const other = await startApp({ databaseUrl });
  const revokeThere = other.calling(acme.apiKey);

  const polling = receiver.call('POST', `/ssf/poll/${streamId}`, {});
  await setTimeout(300); // the poll waits by then
  const began = performance.now();
  await revokeThere('DELETE', `/v1/grants/${grantId}`);
  const sets = Object.values<string>((await polling).json().sets);

  expect(performance.now() - began).toBeLessThan(1500);
  const [signal] = await Promise.all(sets.map(receiver.read));
  expect(signal?.sub_id.session.id).toBe(grantId);
});

test('a verification echoes its state, comes whatever the stream delivers, and at most once a minute', async () => {
  const started = await startPolling();
  const { advance, receiver } = started;
  const { stream_id } = await newStream(receiver, { events_requested: [] });
  const { stream_id: beside } = await newStream(receiver);
  const verify = (body: object) => receiver.call('POST', '/ssf/verification', { stream_id, ...body });
  const poll = async () => {
    const answer = await receiver.call('POST', `/ssf/poll/${stream_id}`, { returnImmediately: true });
    return Promise.all(Object.values<string>(answer.json().sets).map(receiver.read));
  };

  const first = await verify({ state: 'a b' });
  const second = await verify({ state: 'late' });
  const [signal, ...more] = await poll();
  const other = await verify({ stream_id: beside });
  advance(59);
  const early = await verify({});
  advance(1);
  const third = await verify({});

  expect([first, second, other, early, third].map(({ statusCode }) => statusCode)).toEqual([
    ...[204, 429, 204, 429, 204],
  ]);
  expect(second.headers['retry-after']).toBe('60');
  expect(more).toEqual([]);
  expect(signal).toMatchObject({
    sub_id: { format: 'opaque', id: stream_id },
    events: { [`${SSF}/verification`]: { state: 'a b' } },
  });
  advance(60);
  const again = await poll();
  expect(again.map(({ events }) => events)).toEqual([
    { [`${SSF}/verification`]: { state: 'a b' } }, // the first was never acknowledged, and holds back the second
  ]);
  await receiver.call('POST', '/ssf/status', { stream_id, status: 'disabled' });
  expect((await verify({})).statusCode).toBe(400);
});

test('a stream that nobody polls for a week is paused, says so when it is polled, and holds the rest', async () => {
  const started = await startPolling({ receiver: { staticToken: true } });
  const { acme, service, advance, receiver, streamId: stream_id } = started;
  const call = service.calling(receiver.accessToken);
  const { grantId } = await grantTo(acme, { expiresIn: '30d' });
  const statusNow = async () => (await call('GET', `/ssf/status?stream_id=${stream_id}`)).json();
  const poll = async (body: object = {}) => {
    const answer = await call('POST', `/ssf/poll/${stream_id}`, { returnImmediately: true, ...body });
    const { sets } = answer.json();
    const signals = await Promise.all(Object.values<string>(sets).map(receiver.read));
    return { jtis: Object.keys(sets), events: signals.map((signal) => eventOf(signal)) };
  };

  advance(604_799);
  await service.runJob('care of signal streams');
  const before = await statusNow();
  advance(1);
  await service.runJob('care of signal streams');
  await service.runJob('care of signal streams');
  await acme('DELETE', `/v1/grants/${grantId}`);
  const paused = await poll();
  await poll({ ack: paused.jtis, maxEvents: 0 });
  const held = await poll();

  expect(before).toEqual({ stream_id, status: 'enabled' });
  expect(await statusNow()).toEqual({ stream_id, status: 'paused', reason: 'inactive' });
  expect(paused.events).toEqual([
    { uri: `${SSF}/stream-updated`, members: { status: 'paused', reason: 'inactive' } },
  ]);
  expect(held.jtis).toEqual([]);
  expect(await entriesOf(acme, 'ssf.stream.paused')).toMatchObject([
    {
      metadata: { streamId: stream_id, receiverId: receiver.receiverId, reason: 'inactive', actor: 'system' },
    },
  ]);
  await call('POST', '/ssf/status', { stream_id, status: 'enabled' });
  await service.runJob('care of signal streams');
  expect(await statusNow()).toEqual({ stream_id, status: 'enabled' });
  expect((await poll()).events).toMatchObject([{ uri: `${CAEP}/session-revoked` }]);
});

test('a signal that waits for seven days is dropped, and shown as failed', async () => {
  const { acme, advance, service, receiver, streamId } = await startPolling();
  const { grantId } = await grantTo(acme);
  await acme('DELETE', `/v1/grants/${grantId}`);
  const statusNow = async () => {
    const shown = await acme('GET', `/v1/ssf/receivers/${receiver.receiverId}/deliveries`);
    return shown
      .json()
      .deliveries.map((one: { status: string; lastError: string | null }) => [one.status, one.lastError]);
  };
  await service.db.updateTable('ssfStreams').set({ method: 'push' }).where('id', '=', streamId).execute();

  advance(604_800);
  await service.runJob('care of signal streams');
  const atLimit = await statusNow();
  advance(1);
  await service.runJob('care of signal streams');

  expect(atLimit).toEqual([['pending', null]]);
  expect(await statusNow()).toEqual([['failed', 'set_dropped']]);
});

test('a stream holds the newest signals up to its limit, and drops the oldest first', async () => {
  const { acme, db, poll, streamId } = await withRevoked(3);

  await thinQueue(db, acme, streamId, { before: new Date(0), most: 2 });

  const kept = await poll();
  expect(kept.jtis).toHaveLength(2);
  expect(kept.signals.map(({ iat }) => iat)).toEqual([1_767_225_601, 1_767_225_602]);
});

test('an answer has 100 signals at most, however many the receiver takes', async () => {
  const { acme, poll, advance } = await startPolling();
  for (let made = 0; made < 101; made += 1) {
    const { id } = (await acme('POST', '/v1/agents', { name: 'Short-lived' })).json();
    await acme('DELETE', `/v1/agents/${id}`);
  }
  advance(1);

  const { jtis, moreAvailable } = await poll({ maxEvents: 2 ** 40 });

  expect([jtis.length, moreAvailable]).toEqual([100, true]);
});

test('two polls of a stream have a seat to wait, twenty of a developer, and a third is answered at once', async () => {
  const { acme, service, receiver, streamId } = await startPolling();
  const { store } = service;
  const waits = createWaits({ store, notices: commitNotices() });
  const seats = [1, 2, 3].map(() => waits.seat('dev_1', 'ssfs_1'));
  expect(seats.map(Boolean)).toEqual([true, true, false]);
  seats[0]?.[Symbol.dispose]();
  seats[0]?.[Symbol.dispose](); // gives one back, not two
  expect([waits.seat('dev_1', 'ssfs_1'), waits.seat('dev_1', 'ssfs_1')].map(Boolean)).toEqual([true, false]);
  const others = Array.from({ length: 20 }, (_, n) => waits.seat('dev_1', `ssfs_${n + 2}`));
  expect(others.filter(Boolean)).toHaveLength(18);
  expect(waits.seat('dev_2', 'ssfs_1')).toBeDefined();

  const next = () => Promise.reject(new Error('It waits.'));
  const polling = pollingOf({ acme, service, receiver, streamId });
  await expect(polling({ waits: { seat: () => undefined, next } })).resolves.toEqual({ sets: {} });
  await expect(polling({ waits: { seat, next } })).rejects.toThrow('It waits.');
  await receiver.call('POST', '/ssf/status', { stream_id: streamId, status: 'paused' });
  await expect(polling({ waits: { seat, next } })).resolves.toEqual({ sets: {} });
});

test('M19: a poll whose token ends while it waits gets no signal', async () => {
  const { acme, service, receiver, streamId } = await startPolling();
  const path = `/v1/ssf/receivers/${receiver.receiverId}`;
  const waiting = receiver.call('POST', `/ssf/poll/${streamId}`, { returnImmediately: false });
  await setTimeout(200);
  await acme('POST', `${path}/rotate-secret`, { graceSeconds: 0 });
  const { grantId } = await grantTo(acme);
  await acme('DELETE', `/v1/grants/${grantId}`);

  expect((await waiting).json()).toEqual({ sets: {} });
  const others = pollingOf({ acme, service, receiver, streamId });
  expect(Object.keys((await others({})).sets)).toHaveLength(1); // and it is not leased
});

test('a stream that is polled is never inactive', async () => {
  const { advance, service, receiver, streamId } = await startPolling({ receiver: { staticToken: true } });
  const call = service.calling(receiver.accessToken);

  for (let day = 1; day <= 8; day += 1) {
    advance(86_400);
    await call('POST', `/ssf/poll/${streamId}`, { maxEvents: 0 });
    await service.runJob('care of signal streams');
  }

  expect((await call('GET', `/ssf/status?stream_id=${streamId}`)).json().status).toBe('enabled');
});

const seat = () => ({ [Symbol.dispose]() {} });

/** Polls of the service's own stream with other dependencies. */
function pollingOf(
  {
    acme,
    service,
    receiver,
    streamId,
  }: Pick<Awaited<ReturnType<typeof startPolling>>, 'acme' | 'service' | 'receiver' | 'streamId'>,
  waiting: Partial<Waiting> = {},
) {
  const { db, clock, keyRing, settings } = service;
  return async (changes: Partial<PollDeps>) => {
    const deps = {
      ...{ db, clock, keyRing, maxAttempts: 10, isStopping: () => false },
      ...{ issuer: settings.tokens.issuer, publicBaseUrl: settings.tokens.issuer },
      ...{ urlRules: { allowsHttp: true, allowsPrivateHosts: true }, seals: webhookSeals(keyRing) },
      waits: { seat, next: () => Promise.resolve() },
      ...changes,
    };
    const { receiverId } = receiver;
    const caller = { ...systemCaller(acme, { mode: 'sandbox', plan: 'free' }, 'test') };
    const asked = { maxEvents: 100, returnImmediately: false };
    return pollStream(deps, { caller, receiverId }, streamId, asked, {
      gone: new AbortController().signal,
      isLet: async () => true,
      ...waiting,
    });
  };
}

test('a poll that nobody hears, or that cannot be signed, leases no signal', async () => {
  const { acme, service, receiver, streamId, poll } = await startPolling();
  const { grantId } = await grantTo(acme);
  const { keyRing } = service;
  const leaving = new AbortController();
  const polling = pollingOf({ acme, service, receiver, streamId }, { gone: leaving.signal });
  const next = async () => {
    leaving.abort(); // it leaves at the moment when a signal comes
    await acme('DELETE', `/v1/grants/${grantId}`);
  };
  const rsaSigner = () => {
    throw new AppError('SERVICE_UNAVAILABLE', 'There is no RSA key.');
  };

  const left = await polling({ waits: { seat, next } });
  const unsigned = polling({ keyRing: { ...keyRing, rsaSigner } });

  expect(left).toEqual({ sets: {} });
  await expect(unsigned).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect((await poll()).signals.map(({ sub_id }) => sub_id.session.id)).toEqual([grantId]);
});
