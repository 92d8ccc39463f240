import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { grantTo } from '../../../../test/app/flow.ts';
import {
  askForToken,
  CAEP,
  newReceiver,
  newStream,
  PUSH,
  pushTo,
  RISC,
  ssfActions,
  startPolling,
} from '../../../../test/app/receiving.ts';
import { startApp } from '../../../../test/app/start-app.ts';

const POLL = 'urn:ietf:rfc:8936';
const REVOKED = `${CAEP}/session-revoked`;

test('the metadata of the transmitter are where receivers look for them', async () => {
  const issuer = 'https://auth.test/acme';
  const { app } = await startApp({ env: { JWT_ISSUER: issuer } });

  const answer = await app.inject('/.well-known/ssf-configuration/acme');

  expect(answer.headers).toMatchObject({
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
  });
  expect(answer.json()).toEqual({
    spec_version: '1_0',
    issuer,
    jwks_uri: 'https://auth.test/.well-known/jwks.json',
    delivery_methods_supported: [PUSH, POLL],
    configuration_endpoint: 'https://auth.test/ssf/streams',
    status_endpoint: 'https://auth.test/ssf/status',
    verification_endpoint: 'https://auth.test/ssf/verification',
    authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
    default_subjects: 'ALL',
  });
  expect((await app.inject('/.well-known/ssf-configuration')).json()).toEqual(answer.json());
});

test('a stream without a delivery is polled, and is read, changed, replaced and deleted by its receiver', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const receiver = await newReceiver(service, acme);
  const { call, audience } = receiver;

  const made = await newStream(receiver, { events_requested: [REVOKED, 'https://other.test/event'] });
  const id = made.stream_id;

  expect(made).toEqual({
    ...{ stream_id: expect.stringMatching(/^ssfs_/), iss: 'https://auth.test', aud: audience },
    events_supported: expect.arrayContaining([REVOKED, `${RISC}/account-disabled`]),
    events_requested: [REVOKED, 'https://other.test/event'],
    events_delivered: [REVOKED],
    delivery: { method: POLL, endpoint_url: `https://auth.test/ssf/poll/${id}` },
    ...{ min_verification_interval: 60, inactivity_timeout: 604_800 },
  });
  expect((await call('GET', '/ssf/streams')).json()).toEqual([made]);
  expect((await call('GET', `/ssf/streams?stream_id=${id}`)).json()).toEqual(made);

  const patch = { stream_id: id, description: 'x'.repeat(300), iss: made.iss, aud: audience, other: 1 };
  const patched = (await call('PATCH', '/ssf/streams', patch)).json();
  expect(patched).toEqual({ ...made, description: 'x'.repeat(200) });
  const pushed = pushTo('https://siem.acme.test/events', 'Bearer s3cret');
  const replaced = (await call('PUT', '/ssf/streams', { stream_id: id, ...pushed })).json();
  expect(replaced).toMatchObject({
    events_delivered: made.events_supported,
    delivery: { method: PUSH, endpoint_url: 'https://siem.acme.test/events' },
  });
  expect(replaced).not.toHaveProperty('description');
  expect(replaced).not.toHaveProperty('inactivity_timeout');
  expect(JSON.stringify(replaced)).not.toContain('s3cret');
  const shown = (await acme('GET', `/v1/ssf/receivers/${receiver.receiverId}/streams`)).body;
  expect(JSON.parse(shown).streams).toMatchObject([{ streamId: id, method: 'push', status: 'enabled' }]);
  expect(shown).not.toContain('s3cret');
  expect((await call('DELETE', `/ssf/streams?stream_id=${id}`)).statusCode).toBe(204);
  expect((await call('GET', `/ssf/streams?stream_id=${id}`)).statusCode).toBe(404);
  expect((await call('DELETE', `/ssf/streams?stream_id=${id}`)).statusCode).toBe(404);
  expect(await ssfActions(acme)).toEqual([
    ...['ssf.receiver.created', 'ssf.stream.created', 'ssf.stream.updated', 'ssf.stream.updated'],
    'ssf.stream.deleted',
  ]);
});

test('members of the service are sent as they are, or not at all', async () => {
  const service = await startApp();
  const receiver = await newReceiver(service, await service.asDeveloper());
  const { stream_id, events_supported, events_delivered } = await newStream(receiver);
  const statusOf = async (change: object) =>
    (await receiver.call('PATCH', '/ssf/streams', { stream_id, ...change })).statusCode;

  for (const wrong of [
    { iss: 'https://evil.test' },
    { aud: 'https://evil.test' },
    { aud: [receiver.audience, 'https://evil.test'] },
    { events_supported: [] },
    { events_delivered: [`${CAEP}/device-compliance-change`] },
    { min_verification_interval: 1 },
    { inactivity_timeout: 1 },
    { delivery: { method: POLL, endpoint_url: 'https://evil.test/poll' } },
    { delivery: { method: 'urn:other' } },
    { delivery: { method: PUSH } },
    { delivery: { method: PUSH, endpoint_url: 'https://u:p@siem.test/' } },
    { delivery: { method: PUSH, endpoint_url: 'https://127.0.0.1/' } },
  ]) {
    expect([wrong, await statusOf(wrong)]).toEqual([wrong, 400]);
  }
  const good = {
    aud: [receiver.audience],
    events_supported,
    events_delivered,
    min_verification_interval: 60,
  };
  expect(await statusOf(good)).toBe(200);
});

test('a receiver has five streams at most, also when requests race for the last place', async () => {
  const service = await startApp();
  const receiver = await newReceiver(service, await service.asDeveloper());
  for (let made = 0; made < 4; made += 1) await newStream(receiver);

  const raced = await Promise.all(Array.from({ length: 4 }, () => receiver.call('POST', '/ssf/streams', {})));

  expect(raced.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409, 409, 409]);
});

test('M19: a call without a token is asked for one, and a token without the scope is refused', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const receiver = await newReceiver(service, acme);
  const reading = (await askForToken(service, receiver, { scope: 'ssf.read' })).json().access_token;
  const managing = (await askForToken(service, receiver, { scope: 'ssf.manage' })).json().access_token;
  const { stream_id } = await newStream(receiver);
  const told = async (token: string | undefined, method: 'GET' | 'POST', url: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await service.app.inject({ method, url, headers, ...(method === 'POST' && { body: {} }) });
    return [answer.statusCode, answer.headers['www-authenticate']];
  };

  expect(await told(undefined, 'GET', '/ssf/streams')).toEqual([401, 'Bearer']);
  expect(await told('x', 'GET', '/ssf/streams')).toEqual([401, 'Bearer error="invalid_token"']);
  expect(await told(acme.apiKey, 'GET', '/ssf/streams')).toEqual([401, 'Bearer error="invalid_token"']);
  expect(await told(undefined, 'GET', `/ssf/streams?access_token=${reading}`)).toEqual([401, 'Bearer']);
  expect(await told(reading, 'POST', '/ssf/streams')).toEqual([
    403,
    'Bearer error="insufficient_scope", scope="ssf.manage"',
  ]);
  expect(await told(managing, 'GET', `/ssf/status?stream_id=${stream_id}`)).toEqual([
    403,
    'Bearer error="insufficient_scope", scope="ssf.read"',
  ]);
  expect((await told(reading, 'GET', `/ssf/status?stream_id=${stream_id}`))[0]).toBe(200);
  expect((await told(managing, 'POST', '/ssf/streams'))[0]).toBe(201);
});

test("M19: another receiver's stream is unknown, whichever developer it belongs to", async () => {
  const service = await startApp();
  const [acme, other] = [await service.asDeveloper(), await service.asDeveloper()];
  const owner = await newReceiver(service, acme);
  const { stream_id } = await newStream(owner);

  for (const stranger of [await newReceiver(service, acme), await newReceiver(service, other)]) {
    const { call } = stranger;
    const answers = [
      await call('GET', `/ssf/streams?stream_id=${stream_id}`),
      await call('PATCH', '/ssf/streams', { stream_id }),
      await call('PUT', '/ssf/streams', { stream_id }),
      await call('DELETE', `/ssf/streams?stream_id=${stream_id}`),
      await call('GET', `/ssf/status?stream_id=${stream_id}`),
      await call('POST', '/ssf/status', { stream_id, status: 'disabled' }),
      await call('POST', '/ssf/verification', { stream_id }),
      await call('POST', `/ssf/poll/${stream_id}`, { returnImmediately: true }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 404));
    expect((await call('GET', '/ssf/streams')).json()).toEqual([]);
  }
  expect((await owner.call('GET', `/ssf/status?stream_id=${stream_id}`)).json()).toEqual({
    stream_id,
    status: 'enabled',
  });
});

test('a paused stream holds its signals and delivers them in order; a disabled one holds nothing', async () => {
  const { acme, receiver, streamId: stream_id, poll, advance } = await startPolling();
  const grants = [await grantTo(acme), await grantTo(acme), await grantTo(acme)].map(
    ({ grantId }) => grantId,
  );
  const status = async (status: string, reason?: string) =>
    (await receiver.call('POST', '/ssf/status', { stream_id, status, ...(reason && { reason }) })).json();

  expect(await status('paused', 'maintenance')).toEqual({
    stream_id,
    status: 'paused',
    reason: 'maintenance',
  });
  for (const grantId of grants.slice(0, 2)) {
    await acme('DELETE', `/v1/grants/${grantId}`);
    advance(1);
  }
  const whilePaused = await poll();
  await status('enabled');
  const resumed = await poll();
  await poll({ ack: resumed.jtis, maxEvents: 0 });
  await status('disabled');
  await acme('DELETE', `/v1/grants/${grants[2]}`);
  const whileDisabled = await poll();
  await status('enabled');

  expect(whilePaused.jtis).toEqual([]);
  expect(resumed.signals.map(({ sub_id }) => sub_id.session.id)).toEqual(grants.slice(0, 2));
  expect(whileDisabled.jtis).toEqual([]);
  expect((await poll()).jtis).toEqual([]);
  expect((await receiver.call('POST', '/ssf/status', { stream_id, status: 'gone' })).statusCode).toBe(400);
  expect((await ssfActions(acme)).slice(2)).toEqual(Array(4).fill('ssf.stream.updated'));
});

test('a disabled stream takes nothing, also after a change of it or of its receiver', async () => {
  const { acme, receiver, streamId: stream_id, poll } = await startPolling();
  const url = `/v1/ssf/receivers/${receiver.receiverId}`;
  const { events } = (await acme('GET', url)).json();
  const status = (value: string) => receiver.call('POST', '/ssf/status', { stream_id, status: value });
  const revoke = async () => {
    const { grantId } = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${grantId}`);
    return grantId;
  };

  for (const change of [
    () => receiver.call('PATCH', '/ssf/streams', { stream_id, description: 'other' }),
    () => acme('PATCH', url, { events }),
  ]) {
    await status('disabled');
    expect((await change()).statusCode).toBe(200);
    await revoke();
    await status('enabled');
    expect((await poll()).jtis).toEqual([]);
  }
  const grantId = await revoke();
  expect((await poll()).signals.map(({ sub_id }) => sub_id.session.id)).toEqual([grantId]);
});

test('M19: each call needs its own scope', async () => {
  const service = await startApp();
  const receiver = await newReceiver(service, await service.asDeveloper());
  const tokenFor = async (scope: string) =>
    (await askForToken(service, receiver, { scope })).json().access_token;
  const tokens = { 'ssf.read': await tokenFor('ssf.read'), 'ssf.manage': await tokenFor('ssf.manage') };
  const calls = [
    ['GET', '/ssf/streams', 'ssf.read'],
    ['POST', '/ssf/streams', 'ssf.manage'],
    ['PATCH', '/ssf/streams', 'ssf.manage'],
    ['PUT', '/ssf/streams', 'ssf.manage'],
    ['DELETE', '/ssf/streams', 'ssf.manage'],
    ['GET', '/ssf/status', 'ssf.read'],
    ['POST', '/ssf/status', 'ssf.manage'],
    ['POST', '/ssf/verification', 'ssf.manage'],
    ['POST', '/ssf/poll/:id', 'ssf.read'],
  ] as const;
  const routes = service.routes.filter(({ config, method }) => config?.access === 'ssf' && method !== 'HEAD');
  expect(routes.map(({ method, url }) => `${method} ${url}`).sort()).toEqual(
    calls.map(([method, url]) => `${method} ${url}`).sort(),
  );

  for (const [method, path, needed] of calls) {
    const { stream_id } = await newStream(receiver);
    const of = `${path.replace(':id', stream_id)}${['GET', 'DELETE'].includes(method) ? `?stream_id=${stream_id}` : ''}`;
    const body =
      method === 'GET' || method === 'DELETE'
        ? undefined
        : { stream_id, status: 'enabled', returnImmediately: true };
    const answers = Object.entries(tokens).map(async ([scope, token]) => {
      const answer = await service.calling(token)(method, of, body);
      return [scope, answer.statusCode < 300 ? 'passes' : answer.headers['www-authenticate']];
    });
    const refused = `Bearer error="insufficient_scope", scope="${needed}"`;
    const expected = Object.keys(tokens).map((scope) => [scope, scope === needed ? 'passes' : refused]);
    expect([method, path, await Promise.all(answers)]).toEqual([method, path, expected]);
    for (const { stream_id: made } of (await receiver.call('GET', '/ssf/streams')).json()) {
      await receiver.call('DELETE', `/ssf/streams?stream_id=${made}`);
    }
  }
});

test('a stream that is disabled drops the signals it held', async () => {
  const { acme, receiver, streamId: stream_id, poll } = await startPolling();
  const { grantId } = await grantTo(acme);
  await receiver.call('POST', '/ssf/status', { stream_id, status: 'paused' });
  await acme('DELETE', `/v1/grants/${grantId}`);

  await receiver.call('POST', '/ssf/status', { stream_id, status: 'disabled' });
  await receiver.call('POST', '/ssf/status', { stream_id, status: 'enabled' });

  expect((await poll()).jtis).toEqual([]);
  const url = `/v1/ssf/receivers/${receiver.receiverId}/deliveries`;
  expect((await acme('GET', url)).json().deliveries).toMatchObject([
    { eventType: 'grant.revoked', status: 'failed', lastError: 'set_dropped' },
  ]);
});

test('the care of streams reaches each stream, however many there are', async () => {
  const { acme, service, receiver, streamId, advance } = await startPolling();
  const { grantId } = await grantTo(acme);
  await acme('DELETE', `/v1/grants/${grantId}`);
  // Polled streams would be paused first. A hundred more come before this one in the order of ids.
  await service.db.updateTable('ssfStreams').set({ method: 'push' }).execute();
  await sql`insert into ssf_streams select (jsonb_populate_record(s, jsonb_build_object('id', 'ssfs_0' || n))).*
    from ssf_streams s, generate_series(101, 200) n where s.id = ${streamId}`.execute(service.db);
  const statuses = async () => {
    const { deliveries } = (await acme('GET', `/v1/ssf/receivers/${receiver.receiverId}/deliveries`)).json();
    return deliveries.map(({ status }: { status: string }) => status);
  };
  expect(await statuses()).toEqual(['pending']);

  advance(604_801);
  await service.runJob('care of signal streams');

  expect(await statuses()).toEqual(['failed']);
});

test.each([
  [59, 'paused'],
  [60, 'enabled'],
])(
  'a poll %i seconds after the one that was noted: a week after that one the stream is %s',
  async (seconds, status) => {
    const { advance, service, receiver, streamId } = await startPolling({ receiver: { staticToken: true } });
    const call = service.calling(receiver.accessToken);

    advance(seconds);
    await call('POST', `/ssf/poll/${streamId}`, { maxEvents: 0 });
    advance(604_800 - seconds);
    await service.runJob('care of signal streams');

    expect((await call('GET', `/ssf/status?stream_id=${streamId}`)).json().status).toBe(status);
  },
);
