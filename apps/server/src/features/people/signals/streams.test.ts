import { expect, test } from 'vitest';
import { entriesOf } from '../../../../test/app/flow.ts';
import { BEARER, streamsAt } from '../../../../test/app/signal-streams.ts';
import { CAEP, linked, polled, startSignalling } from '../../../../test/app/transmitter.ts';

const EVENT = `${CAEP}/session-revoked`;

test('a stream that is pushed is made with the secret that its signals show, is replaced, and deleted', async () => {
  const started = await startSignalling();
  const { streams, state } = streamsAt(started.provider);
  const auth = {
    ...{ type: 'client_credentials', tokenEndpoint: `${started.provider.issuer}/signal-token` },
    ...{ clientId: 'receiver', clientSecret: 's3cret' },
  };
  const { transmitter, acme, connection, source } = await linked(started, { auth });
  const wanted = Object(streams.get('stream-1'));
  expect(wanted.delivery).toMatchObject({ method: 'urn:ietf:rfc:8935', endpoint_url: source.endpointUrl });
  expect(source).not.toHaveProperty('authorizationHeader');
  const authorization = wanted.delivery.authorization_header;
  const refused = await transmitter.send(source, EVENT, { authorization: null });
  expect(refused.json().err).toBe('authentication_failed');
  expect((await transmitter.send(source, EVENT, { authorization })).statusCode).toBe(202);
  expect(wanted.events_requested).toContain(EVENT);

  const path = `/v1/sso/connections/${connection.id}/signals`;
  expect((await acme('PUT', path, { auth })).json().streamId).toBe('stream-2');
  expect([...streams.keys()]).toEqual(['stream-2']);
  expect(state.tokensGiven).toBe(1);
  expect((await acme('DELETE', path)).statusCode).toBe(204);
  expect(streams.size).toBe(0);
  expect((await acme('PUT', path, {})).json()).toHaveProperty('authorizationHeader');
});

test('M13: a stream that is not as it was asked for is not kept', async () => {
  const { provider, acme, connection } = await startSignalling();
  const { state, streams } = streamsAt(provider);
  const path = `/v1/sso/connections/${connection.id}/signals`;
  const put = async (body: object) => {
    const answer = await acme('PUT', path, body);
    return [answer.json().code, answer.json().details];
  };
  const poll = { delivery: 'poll', auth: BEARER };
  for (const [made, reason] of [
    [{ iss: 'https://mallory.test' }, 'issuer'],
    [{ delivery: { method: 'urn:ietf:rfc:8935' } }, 'delivery'],
    [{ delivery: { method: 'urn:ietf:rfc:8936', endpoint_url: 'ftp://x.test' } }, 'delivery'],
  ] as const) {
    state.made = made;
    expect(await put(poll)).toEqual(['DISCOVERY_FAILED', { step: 'stream', reason }]);
    expect(streams.size).toBe(0);
  }
  state.made = {};
  const stranger = { type: 'bearer', token: 'another' };
  expect(await put({ ...poll, auth: stranger })).toEqual([
    'DISCOVERY_FAILED',
    { step: 'stream', reason: 'http_401' },
  ]);
  expect((await put({ delivery: 'poll' }))[0]).toBe('BAD_REQUEST');
  expect((await acme('GET', path)).statusCode).toBe(404);
});

const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification';
const DAY = 86_400;

test('a stream is asked for a verification daily, and 48 h of silence are told of once', async () => {
  const { verifications, waiting, transmitter, source, service, poll, record, acme } = await polled();
  const check = () => service.runJob('verification of streams');
  const answer = async (state: string) => {
    const set = await transmitter.newSet(source, VERIFICATION, {}, { state });
    waiting.set(`verification-${verifications.length}-${state}`, set);
    await poll();
  };
  const silences = () => entriesOf(acme, 'signal.stream_silent');
  await check();
  await check();
  expect(verifications).toEqual([{ stream_id: 'stream-1', state: expect.any(String) }]);
  await answer('not ours');
  expect(await record()).toMatchObject({ verifiedAt: null });
  service.advance(60);
  await answer(String(verifications[0]?.state));
  const verifiedAt = service.clock().toISOString();
  expect(await record()).toMatchObject({ verifiedAt });

  service.advance(DAY - 61);
  await check();
  expect(verifications).toHaveLength(1);
  service.advance(3600);
  await check();
  expect(verifications).toHaveLength(2);
  service.advance(DAY - 3600 + 60);
  await check();
  expect(await silences()).toEqual([]);
  service.advance(3600);
  await check();
  service.advance(3600);
  await check();
  expect(await silences()).toMatchObject([{ metadata: { lastHeardAt: verifiedAt } }]);
  expect((await record()).silentSince).not.toBeNull();

  await answer(String(verifications.at(-1)?.state));
  expect(await record()).toMatchObject({ silentSince: null, verifiedAt: service.clock().toISOString() });
  service.advance(2 * DAY);
  await check();
  expect(await silences()).toHaveLength(2);
});

test('a verification that the transmitter refuses is asked for again after an hour, and shown', async () => {
  const { verifications, state, service, record } = await polled();
  const check = () => service.runJob('verification of streams');
  state.verifyStatus = 500;
  await check();
  expect(await record()).toMatchObject({ lastError: 'verification.http_500' });
  state.verifyStatus = 204;
  service.advance(3599);
  await check();
  expect(verifications).toHaveLength(1);
  service.advance(1);
  await check();
  expect(verifications).toHaveLength(2);
  expect(await record()).toMatchObject({ lastError: null });
});
