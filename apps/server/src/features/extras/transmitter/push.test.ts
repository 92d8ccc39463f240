import { expect, test } from 'vitest';
import { dispatcherOf } from '../../../../test/app/deliveries.ts';
import { entriesOf, grantTo } from '../../../../test/app/flow.ts';
import {
  CAEP,
  eventOf,
  ISSUER,
  newStream,
  pushTo,
  SSF,
  startPushing,
  startReceiver,
} from '../../../../test/app/receiving.ts';

type Pushing = Awaited<ReturnType<typeof startPushing>>;

const revoked = async ({ acme }: Pushing) => {
  const { grantId } = await grantTo(acme);
  await acme('DELETE', `/v1/grants/${grantId}`);
  return grantId;
};

const deliveriesOf = async ({ acme, receiver }: Pushing) =>
  (await acme('GET', `/v1/ssf/receivers/${receiver.receiverId}/deliveries`)).json().deliveries;

test('a revoked grant arrives as a signal that a receiver verifies with the published keys', async () => {
  const { acme, peer, receiver, arrived } = await startPushing();
  const { did, grantId } = await grantTo(acme);

  await acme('DELETE', `/v1/grants/${grantId}`);
  const [signal, ...more] = await arrived();

  expect(more).toEqual([]);
  expect(signal).toEqual({
    iss: ISSUER,
    aud: receiver.audience,
    iat: 1_767_225_600,
    jti: expect.stringMatching(/^set_[0-9A-Z]{26}$/),
    txn: expect.any(String),
    sandbox: true,
    sub_id: {
      format: 'complex',
      user: { format: 'iss_sub', iss: ISSUER, sub: 'user_42' },
      tenant: { format: 'opaque', id: acme.developerId },
      session: { format: 'opaque', id: grantId },
      application: { format: 'did', url: did },
    },
    events: {
      [`${CAEP}/session-revoked`]: {
        event_timestamp: 1_767_225_600,
        initiating_entity: 'admin',
        reason_admin: { en: 'developer' },
      },
    },
  });
  expect(peer.received[0]?.headers).toMatchObject({
    'content-type': 'application/secevent+jwt',
    accept: 'application/json',
    authorization: 'Bearer own-secret',
    'user-agent': 'Service-Webhooks/0.1',
  });
});

test('a process sends a signal, and the answer to a verification, at the commit and without a poll', async () => {
  const started = await startPushing();
  const { service, peer, receiver, streamId: stream_id } = started;
  service.startFeatures();

  await revoked(started);
  await expect.poll(() => peer.received.length, { timeout: 5000 }).toBe(1);
  await receiver.call('POST', '/ssf/verification', { stream_id, state: 's' });
  await expect.poll(() => peer.received.length, { timeout: 5000 }).toBe(2);

  const signal = await receiver.read(peer.received[1]?.body ?? '');
  expect(signal).toMatchObject({
    sub_id: { format: 'opaque', id: stream_id },
    events: { [`${SSF}/verification`]: { state: 's' } },
  });
});

test.for(['invalid_request', 'invalid_issuer', 'invalid_audience'])(
  'a signal that is refused with %s is not sent again',
  async (err) => {
    const started = await startPushing();
    const { peer, deliver, advance } = started;
    peer.answer((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ err, description: 'no' }));
    });
    await revoked(started);

    await deliver();
    advance(86_400);
    await deliver();

    expect(peer.received).toHaveLength(1);
    expect(await deliveriesOf(started)).toMatchObject([
      { status: 'failed', attempts: 1, lastError: `set_${err}`, lastStatusCode: 400, nextAttemptAt: null },
    ]);
  },
);

test.for([
  ['400 with another error', 400, '{"err":"jws_invalid"}', 'http_400'],
  ['400 without a body', 400, '', 'http_400'],
  ['400 with a body that is no JSON', 400, 'invalid_request', 'http_400'],
  ['401', 401, '{"err":"invalid_request"}', 'http_401'],
  ['503', 503, '', 'http_503'],
  ['a redirect', 307, '', 'redirect_refused'],
] as const)('a signal that is answered with %s is sent again', async ([, status, body, lastError]) => {
  const started = await startPushing();
  const { peer, deliver, advance } = started;
  peer.answer((_request, response) => void response.writeHead(status, { location: '/x' }).end(body));
  await revoked(started);

  await deliver();
  const [first] = await deliveriesOf(started);
  peer.answerStatus(202);
  advance(30);
  await deliver();

  expect(first).toMatchObject({ status: 'pending', attempts: 1, lastError, lastStatusCode: status });
  expect(peer.received).toHaveLength(2);
  expect(peer.received[0]?.body).toBe(peer.received[1]?.body);
  expect(await deliveriesOf(started)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
});

test('any 2xx is a delivery, however much the receiver says', async () => {
  const started = await startPushing();
  started.peer.answer((_request, response) => void response.writeHead(200).end('x'.repeat(200_000)));
  await revoked(started);

  await started.deliver();

  expect(await deliveriesOf(started)).toMatchObject([{ status: 'delivered', lastError: null }]);
});

test('attempts wait twice as long each time, an hour at most, and end after the number of the setting', async () => {
  const started = await startPushing({ env: { SSF_MAX_ATTEMPTS: '9' } });
  const { peer, deliver, advance } = started;
  peer.answerStatus(503);
  await revoked(started);

  const waits: number[] = [];
  for (;;) {
    await deliver();
    const [{ nextAttemptAt, lastAttemptAt, status }] = await deliveriesOf(started);
    if (status === 'failed') break;
    const wait = (Date.parse(nextAttemptAt) - Date.parse(lastAttemptAt)) / 1000;
    waits.push(wait);
    advance(wait);
  }

  expect(waits).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600]);
  expect(peer.received).toHaveLength(9);
});

test('agents 35: a receiver that answers 410 pauses its stream, with an entry, and gets no more until it resumes', async () => {
  const started = await startPushing({ receiver: { staticToken: true } });
  const { acme, peer, service, deliver, advance, streamId: stream_id, receiver, arrived } = started;
  const call = service.calling(receiver.accessToken);
  peer.answerStatus(410);
  await revoked(started);
  await deliver();
  const gone = (await call('GET', `/ssf/status?stream_id=${stream_id}`)).json();
  const second = await revoked(started);
  peer.answerStatus(202);
  advance(86_400);
  const paused = await arrived();
  await call('POST', '/ssf/status', { stream_id, status: 'enabled' });
  const resumed = await arrived();

  expect(gone).toEqual({ stream_id, status: 'paused', reason: 'receiver_gone' });
  expect(paused).toEqual([]); // the news of the pause was refused like the signal before it
  expect(resumed.map(({ sub_id }) => sub_id.session.id)).toEqual([second]);
  expect(await entriesOf(acme, 'ssf.stream.paused')).toMatchObject([
    { metadata: { streamId: stream_id, reason: 'receiver_gone' } },
  ]);
});

test('K9: a receiver of signals that names a time by `Retry-After` is tried then, and not before', async () => {
  const started = await startPushing();
  const { peer, deliver, advance } = started;
  peer.answerStatus(429, { 'retry-after': '600' });
  await revoked(started);
  await deliver();
  advance(599);
  await deliver();
  expect(peer.received).toHaveLength(1);
  peer.answerStatus(202);
  advance(1);
  await deliver();

  expect(peer.received).toHaveLength(2);
  expect(await deliveriesOf(started)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
});

test('M20: a private address gets no signal, and no signal leaves for a receiver that moved there', async () => {
  const started = await startPushing();
  const { peer, service } = started;
  const guarded = dispatcherOf(service, { allowsPrivateHosts: false });
  await revoked(started);

  await guarded.deliver();

  expect(peer.received).toEqual([]);
  expect(await deliveriesOf(started)).toMatchObject([{ status: 'pending', lastError: 'blocked_address' }]);
  await started.deliver();
  expect(peer.received).toEqual([]); // it waits for its next attempt
  service.advance(30);
  await started.deliver();
  expect(peer.received).toHaveLength(1);
});

test('a stream that was made without a header is pushed without one', async () => {
  const started = await startPushing();
  const { receiver, streamId, peer } = started;
  await receiver.call('DELETE', `/ssf/streams?stream_id=${streamId}`);
  const made = await receiver.call('POST', '/ssf/streams', pushTo(peer.url));

  await revoked(started);
  await started.deliver();

  expect(made.statusCode).toBe(201);
  expect(peer.received.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test('M19: the header of a stream stays with its URL', async () => {
  const started = await startPushing();
  const { receiver, streamId: stream_id, peer } = started;
  const mallory = await startReceiver();
  mallory.answerStatus(202);
  const move = (body: object) => receiver.call('PATCH', '/ssf/streams', { stream_id, ...body });

  await move({ description: 'same' });
  await move(pushTo(peer.url));
  await revoked(started);
  await started.deliver();
  await move(pushTo(mallory.url));
  await revoked(started);
  await started.deliver();
  await move(pushTo(peer.url, 'Bearer own-secret'));
  await receiver.call('PUT', '/ssf/streams', { stream_id, ...pushTo(peer.url) }); // it leaves the header out
  await revoked(started);
  await started.deliver();

  expect(peer.received.map(({ headers }) => headers.authorization)).toEqual([
    ...['Bearer own-secret', undefined],
  ]);
  expect(mallory.received.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test('pushes of one subject go one after another, also those of one instant, and others go on beside', async () => {
  const started = await startPushing();
  const { acme, peer, service, deliver, advance } = started;
  const { token } = (await acme('POST', '/v1/scim/tokens', { label: 'test' })).json();
  const scim = service.calling(token);
  const { id } = (await scim('POST', '/scim/v2/Users', { userName: 'ada' })).json();
  const set = (value: boolean) =>
    scim('PATCH', `/scim/v2/Users/${id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'active', value }],
    });
  peer.answerStatus(503);
  await set(false);
  await set(true);
  await set(false);
  const grantId = await revoked(started);

  await deliver();
  const first = await Promise.all(peer.received.map(({ body }) => started.receiver.read(body)));
  peer.answerStatus(202);
  advance(3600);
  const rest = await started.arrived();
  const ofAda = [...first, ...rest].filter(({ sub_id }) => sub_id.session === undefined).map(eventOf);

  expect(first).toHaveLength(2); // Ada's first, and the grant's
  expect(first.map(({ sub_id }) => sub_id.session?.id)).toContain(grantId);
  expect(ofAda.map(({ uri }) => uri.split('/').at(-1))).toEqual([
    ...['session-revoked', 'session-revoked', 'account-disabled', 'account-enabled'],
    ...['session-revoked', 'account-disabled'],
  ]);
});

test('a stream that fails for a day is paused after the news of it, and resumes in order', async () => {
  const started = await startPushing({ receiver: { staticToken: true } });
  const { acme, peer, service, deliver, advance, streamId: stream_id, receiver, arrived } = started;
  const call = service.calling(receiver.accessToken);
  const statusNow = async () => (await call('GET', `/ssf/status?stream_id=${stream_id}`)).json();
  const care = () => service.runJob('care of signal streams');
  peer.answerStatus(503);
  const first = await revoked(started);
  for (let attempt = 0; attempt < 9; attempt += 1) {
    await deliver();
    advance(3600);
  }
  advance(15 * 3600);
  await care();
  const afterNine = await statusNow(); // nine failures in a day are too few
  await deliver();
  await care();
  const paused = await statusNow();
  peer.answerStatus(202);
  const second = await revoked(started);
  const news = await arrived();
  const held = await arrived();
  await call('POST', '/ssf/status', { stream_id, status: 'enabled' });
  advance(3600);
  const resumed = await arrived();
  await care();

  expect(afterNine.status).toBe('enabled');
  expect(paused).toEqual({ stream_id, status: 'paused', reason: 'delivery_failed' });
  expect(news.map(eventOf)).toEqual([
    { uri: `${SSF}/stream-updated`, members: { status: 'paused', reason: 'delivery_failed' } },
  ]);
  expect(held).toEqual([]);
  expect(resumed.map(({ sub_id }) => sub_id.session.id)).toEqual([second]);
  expect(await deliveriesOf(started)).toContainEqual(
    expect.objectContaining({ status: 'failed', attempts: 10, lastError: 'http_503' }),
  );
  expect(first).not.toBe(second);
  expect(await statusNow()).toEqual({ stream_id, status: 'enabled' });
  expect(await entriesOf(acme, 'ssf.stream.paused')).toHaveLength(1);
});

test('M19: the header of a push never shows in an answer or a log', async () => {
  const started = await startPushing({ logLevel: 'debug' });
  const { acme, receiver, service, peer, deliver, streamId } = started;
  const secret = 'own-secret';
  peer.answerStatus(503);
  await revoked(started);
  await deliver();
  await newStream(receiver, pushTo(peer.url, 'Bearer own-secret'));

  const answers = [
    await receiver.call('GET', '/ssf/streams'),
    await receiver.call('GET', `/ssf/status?stream_id=${streamId}`),
    await acme('GET', `/v1/ssf/receivers/${receiver.receiverId}/streams`),
    await acme('GET', `/v1/ssf/receivers/${receiver.receiverId}/deliveries`),
    await acme('GET', '/v1/audit/entries?limit=500'),
    await acme('GET', '/v1/webhooks'),
  ];

  expect(answers.filter(({ body }) => body.includes(secret))).toEqual([]);
  expect(service.logLines.filter((line) => line.includes(secret))).toEqual([]);
  const stored = await service.db.selectFrom('webhookEndpoints').selectAll().execute();
  expect(stored.filter((row) => row.secret.includes(secret))).toEqual([]);
  expect(peer.received[0]?.headers.authorization).toContain(secret);
});

test('a stream is no webhook: it is not listed, changed or counted as one', async () => {
  const { acme, streamId } = await startPushing({ env: { PLAN_FREE_WEBHOOKS: '1' } });

  expect((await acme('GET', '/v1/webhooks')).json().webhooks).toEqual([]);
  expect((await acme('GET', `/v1/webhooks/${streamId}`)).statusCode).toBe(404);
  expect((await acme('PATCH', `/v1/webhooks/${streamId}`, { status: 'active' })).statusCode).toBe(404);
  expect((await acme('DELETE', `/v1/webhooks/${streamId}`)).statusCode).toBe(404);
  expect((await acme('POST', `/v1/webhooks/${streamId}/test`, {})).statusCode).toBe(404);
  const webhook = { url: 'https://hooks.acme.test/', events: ['*'] };
  expect((await acme('POST', '/v1/webhooks', webhook)).statusCode).toBe(201);
});

test('the last revocations of a closed account are still sent, and its receivers may only read', async () => {
  const { acme, receiver, arrived, streamId: stream_id } = await startPushing();
  const { grantId } = await grantTo(acme);

  await acme('POST', '/v1/me/close', { confirm: acme.developerId });
  const signals = await arrived();

  expect(signals.map(({ sub_id }) => sub_id.session?.id)).toContain(grantId);
  expect((await receiver.call('GET', '/ssf/streams')).statusCode).toBe(200);
  expect((await receiver.call('POST', '/ssf/verification', { stream_id })).statusCode).toBe(403);
});

test('failures of a delivery count no longer once it is changed, and a day of them pauses the stream', async () => {
  const started = await startPushing({
    receiver: { staticToken: true },
    env: { SSF_MAX_ATTEMPTS: '20' },
  });
  const { peer, service, deliver, advance, streamId: stream_id, receiver } = started;
  const call = service.calling(receiver.accessToken);
  const statusAfterCare = async () => {
    await service.runJob('care of signal streams');
    return (await call('GET', `/ssf/status?stream_id=${stream_id}`)).json().status;
  };
  /** Ten failures, the first of them `23:59:59` before the end. */
  const fail = async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      await deliver();
      advance(3600);
    }
    advance(14 * 3600 - 1);
  };
  peer.answerStatus(503);
  await revoked(started);

  await fail();
  const justBefore = await statusAfterCare();
  await call('PATCH', '/ssf/streams', { stream_id, ...pushTo(`${peer.url}/mended`) });
  advance(1);
  const mended = await statusAfterCare();
  await fail();
  const again = await statusAfterCare();
  advance(1);

  expect([justBefore, mended, again]).toEqual(['enabled', 'enabled', 'enabled']);
  expect(await statusAfterCare()).toBe('paused');
});

test('a stream that is pushed is not polled, and a deleted one sends nothing', async () => {
  const started = await startPushing();
  const { acme, service, peer, receiver, streamId, deliver, advance } = started;
  await revoked(started);
  const polled = await receiver.call('POST', `/ssf/poll/${streamId}`, { returnImmediately: true });
  await deliver();
  expect(polled.statusCode).toBe(404);
  expect(peer.received).toHaveLength(1);

  const beside = await newStream(receiver, pushTo(peer.url));
  peer.answerStatus(503);
  await revoked(started);
  await deliver();
  const tried = peer.received.length;
  await receiver.call('DELETE', `/ssf/streams?stream_id=${streamId}`);
  const left = () =>
    service.db
      .selectFrom('webhookEndpoints')
      .select('id')
      .where('developerId', '=', acme.developerId)
      .execute();
  expect(await left()).toEqual([{ id: beside.stream_id }]);
  await acme('DELETE', `/v1/ssf/receivers/${receiver.receiverId}`);
  expect(await left()).toEqual([]);
  await revoked(started);
  advance(86_400);
  await deliver();

  expect(tried).toBe(3);
  expect(peer.received).toHaveLength(tried);
  const ends = await service.db
    .selectFrom('webhookDeliveries')
    .select(['status', 'lastError'])
    .where('developerId', '=', acme.developerId)
    .where('status', '<>', 'delivered')
    .execute();
  expect(ends).toEqual(Array(2).fill({ status: 'failed', lastError: 'endpoint_deleted' }));
});
