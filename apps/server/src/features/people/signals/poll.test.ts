import { expect, test } from 'vitest';
import { entriesOf } from '../../../../test/app/flow.ts';
import { BEARER } from '../../../../test/app/signal-streams.ts';
import { besideProvider } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { CAEP, polled, type Started } from '../../../../test/app/transmitter.ts';

const EVENT = `${CAEP}/session-revoked`;

const sessionsOf = async ({ acme }: Pick<Started, 'acme'>) =>
  (await acme('GET', '/v1/sso/sessions')).json().sessions.length;

test('a stream that is polled is made at the transmitter, and its signals are acknowledged after their commit', async () => {
  const started = await polled();
  const { streams, source, polls, waiting, wait, poll, record, acme, service } = started;
  expect([...streams.values()]).toMatchObject([{ delivery: { method: 'urn:ietf:rfc:8936' } }]);
  expect(source).toMatchObject({ delivery: 'poll', streamId: 'stream-1', authType: 'bearer' });
  expect(source).toMatchObject({ audience: 'receiver-7', lastPolledAt: null });
  expect(JSON.stringify(source)).not.toContain(BEARER.token);
  expect(source).not.toHaveProperty('authorizationHeader');
  await wait('good');
  await wait('other', { aud: 'receiver-8' });

  await poll();

  expect(polls).toEqual([
    { maxEvents: 20, returnImmediately: true },
    {
      maxEvents: 20,
      returnImmediately: true,
      ack: ['good'],
      setErrs: { other: { err: 'invalid_audience', description: expect.any(String) } },
    },
  ]);
  expect(waiting.size).toBe(0);
  expect(await entriesOf(acme, 'signal.received')).toMatchObject([{ metadata: { jti: 'good' } }]);
  expect(await entriesOf(acme, 'signal.refused')).toHaveLength(1);
  expect(await record()).toMatchObject({ lastPolledAt: service.clock().toISOString(), lastError: null });

  service.advance(29);
  await poll();
  expect(polls).toHaveLength(2);
  service.advance(1);
  await poll();
  expect(polls).toHaveLength(3);
});

test('M13: a signal that was taken and not acknowledged comes again, and has no second effect', async () => {
  const { state, waiting, wait, poll, record, acme, service, signIn } = await polled();
  await wait('good');
  state.pollStatus = ({ ack }) => (ack ? 500 : 200);
  await poll();
  expect(await record()).toMatchObject({ lastError: 'poll.http_500' });
  expect([...waiting.keys()]).toEqual(['good']);
  await signIn();

  state.pollStatus = () => 200;
  service.advance(60);
  await poll();

  expect(waiting.size).toBe(0);
  expect(await entriesOf(acme, 'signal.received')).toHaveLength(1);
  expect(await sessionsOf({ acme })).toBe(1);
  expect(await record()).toMatchObject({ lastError: null });
});

test('a transmitter that fails is asked after 60 s, then 120 s, and every 30 s once it answers', async () => {
  const { state, polls, poll, service, record } = await polled();
  state.pollStatus = () => 503;
  await poll();
  for (const [seconds, count] of [
    [59, 1],
    [1, 2],
    [119, 2],
    [1, 3],
  ] as const) {
    service.advance(seconds);
    await poll();
    expect({ seconds, count: polls.length }).toEqual({ seconds, count });
  }
  expect(await record()).toMatchObject({ lastError: 'poll.http_503' });
  state.pollStatus = () => 200;
  for (const [seconds, count] of [
    [239, 3],
    [1, 4],
    [29, 4],
    [1, 5],
  ] as const) {
    service.advance(seconds);
    await poll();
    expect({ seconds, count: polls.length }).toEqual({ seconds, count });
  }
});

test('a token that the transmitter no longer takes is got again for the next poll', async () => {
  const client = { clientId: 'receiver', clientSecret: 's3cret' };
  const { state, poll, service, record } = await polled({}, (issuer) => ({
    ...{ type: 'client_credentials', tokenEndpoint: `${issuer}/signal-token`, ...client },
  }));
  await poll();
  state.token = 'the-next-token';
  service.advance(30);
  await poll();
  expect([state.tokensGiven, await record()]).toMatchObject([1, { lastError: 'poll.http_401' }]);

  service.advance(60);
  await poll();

  expect([state.tokensGiven, await record()]).toMatchObject([2, { lastError: null }]);
});

test('a poll that ends after its source was written again says nothing about the new one', async () => {
  const { provider, acme, connection, poll, record } = await polled();
  const { instead } = provider.behaviour;
  const writeAgain = () =>
    acme('PUT', `/v1/sso/connections/${connection.id}/signals`, { delivery: 'poll', auth: BEARER });
  provider.behaviour.instead = (request, respond) => {
    if (request.url !== '/poll') return instead(request, respond);
    provider.behaviour.instead = instead;
    void writeAgain().then(() => respond(503, {}));
    return true;
  };

  await poll();

  expect(await record()).toMatchObject({ streamId: 'stream-2', lastPolledAt: null, lastError: null });
});

test('one of two instances at once polls', async () => {
  const { polls, poll, wait, acme } = await polled();
  const other = await startApp(besideProvider());
  await wait('good');
  await Promise.all([poll(), other.runJob('polling of signals')]);
  expect(polls).toHaveLength(2);
  expect(polls.filter(({ ack }) => ack === undefined)).toHaveLength(1);
  expect(await entriesOf(acme, 'signal.received')).toHaveLength(1);
});

test('M13: a signal that cannot be committed is not acknowledged, and the others are', async () => {
  const { waiting, wait, poll, record, provider, service, acme } = await polled();
  await wait('good');
  const { instead } = provider.behaviour;
  provider.behaviour.instead = (request, respond) => {
    if (request.url !== '/signal-keys') return instead(request, respond);
    respond(500, {});
    return true;
  };
  await poll();
  expect([...waiting.keys()]).toEqual(['good']);
  expect(await record()).toMatchObject({ lastError: 'signal.not_taken' });

  provider.behaviour.instead = instead;
  service.advance(60);
  await poll();
  expect(waiting.size).toBe(0);
  expect(await entriesOf(acme, 'signal.received')).toHaveLength(1);
});

test('M13: nobody pushes to a source that is polled', async () => {
  const { transmitter, source } = await polled();
  const answer = await transmitter.send(source, EVENT, { authorization: null });
  expect(answer.json().err).toBe('authentication_failed');
});
