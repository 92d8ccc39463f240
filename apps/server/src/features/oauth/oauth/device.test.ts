import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entriesOf, partsOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import {
  askDevice,
  enter,
  entered,
  errorIn,
  newClient,
  newDevice,
  newResource,
  polled,
  post,
} from '../../../../test/app/oauth.ts';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true });
});
afterAll(() => service.stop());

describe('RFC 8628: a device without a browser', () => {
  test('shows a code, and gets tokens once its person has approved on another device', async () => {
    const device = await newDevice(service);
    await newResource(device.acme, 'http://localhost/calendar');
    const shown = await askDevice(device, { resource: 'http://localhost/calendar' });

    expect(shown).toMatchObject({
      user_code: expect.stringMatching(/^[BCDFGHJ-NP-TV-XZ]{4}-[BCDFGHJ-NP-TV-XZ]{4}$/),
      verification_uri: `${service.url}/device`,
      verification_uri_complete: `${service.url}/device?user_code=${shown.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    expect(await errorIn(await polled(service, device, shown.device_code))).toBe('authorization_pending');
    const id = await entered(service, shown.user_code.toLowerCase().replace('-', ' '));
    service.advance(5);
    expect(await errorIn(await polled(service, device, shown.device_code))).toBe('authorization_pending');
    expect((await device.acme('POST', `/v1/authorize/${id}/approve`, {})).json()).toEqual({
      requestId: id,
      authRequestId: id,
      status: 'approved',
    });
    service.advance(5);
    const tokens = Object(await (await polled(service, device, shown.device_code)).json());

    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'calendar:read' });
    const { payload } = partsOf(tokens.access_token);
    expect(payload).toMatchObject({ client_id: device.clientId, aud: 'http://localhost/calendar' });
    const [requested] = await entriesOf(device.acme, 'authorization.requested');
    expect(requested?.metadata).toMatchObject({ channel: 'device' });
    service.advance(5);
    expect(await errorIn(await polled(service, device, shown.device_code))).toBe('invalid_grant');
    await openid.refreshTokenGrant(device.config, tokens.refresh_token);
  });
});

/** A device whose person has entered the code. */
async function waitingDevice() {
  const device = await newDevice(service);
  const shown = await askDevice(device);
  const id = await entered(service, shown.user_code);
  const decide = (decision: 'approve' | 'deny') => device.acme('POST', `/v1/authorize/${id}/${decision}`, {});
  return { ...device, shown, id, decide };
}

test('the person goes on to consent in the languages of the page', async () => {
  const device = await newDevice(service);
  const to = async (uiLocales: string) => {
    const { user_code: userCode } = await askDevice(device);
    return enter(service, userCode, {}, { uiLocales });
  };
  const addressFor = async (uiLocales: string) => Object(await (await to(uiLocales)).json()).redirectTo;

  expect(await addressFor('ja en-GB')).toMatch(/\/consent\?req=\w+&ui_locales=ja\+en-GB#ticket=/);
  expect(await addressFor('#hint=x')).toMatch(/\/consent\?req=\w+#ticket=[\w-]+$/);
  expect((await to('x'.repeat(257))).status).toBe(400);
});

test('independent clients poll until the person has decided', async () => {
  const { config, shown, decide } = await waitingDevice();
  const atOnce = { ...shown, interval: 0 }; // the clock of the service stands still
  await decide('approve');

  const tokens = await openid.pollDeviceAuthorizationGrant(config, atOnce);

  expect(tokens).toMatchObject({ scope: 'calendar:read', token_type: 'bearer' });
  const denied = await waitingDevice();
  await denied.decide('deny');
  await expect(
    openid.pollDeviceAuthorizationGrant(denied.config, { ...denied.shown, interval: 0 }),
  ).rejects.toMatchObject({ error: 'access_denied' });
});

test('a device that hurries waits five seconds longer each time, and its haste is not counted', async () => {
  const device = await waitingDevice();
  const ask = () => polled(service, device, device.shown.device_code).then(errorIn);

  expect(await ask()).toBe('authorization_pending');
  service.advance(4.999);
  expect(await ask()).toBe('slow_down');
  service.advance(9.999);
  expect(await ask()).toBe('slow_down');
  service.advance(15);
  expect(await ask()).toBe('authorization_pending');
  const hasty = await Promise.all(Array.from({ length: 30 }, ask));
  expect(new Set(hasty)).toEqual(new Set(['slow_down']));
  await device.decide('approve');
  service.advance(60);
  expect((await polled(service, device, device.shown.device_code)).status).toBe(200);
});

test('the time of a device ends after ten minutes, for its code and for its person', async () => {
  const [entering, late, waiting] = [
    await newDevice(service),
    await newDevice(service),
    await waitingDevice(),
  ];
  const [shown, missed] = [await askDevice(entering), await askDevice(late)];

  service.advance(599.999);
  expect(await errorIn(await polled(service, waiting, waiting.shown.device_code))).toBe(
    'authorization_pending',
  );
  expect((await enter(service, shown.user_code)).status).toBe(200);
  service.advance(0.001);
  expect((await enter(service, missed.user_code)).status).toBe(404);
  service.advance(5);
  expect(await errorIn(await polled(service, waiting, waiting.shown.device_code))).toBe('expired_token');
  expect((await waiting.decide('approve')).statusCode).toBe(404);
});

test('a device whose request the person may not make learns why', async () => {
  const device = await newDevice(service);
  const shown = await askDevice(device);
  const effect = { effect: 'deny', agentId: device.clientId };
  await device.acme('POST', '/v1/policies', { name: 'No devices', ...effect });

  expect((await enter(service, shown.user_code)).status).toBe(409);
  expect(await errorIn(await polled(service, device, shown.device_code))).toBe('access_denied');
});

describe('a request that cannot be made', () => {
  const ask = (device: { readonly clientId: string }, form: Record<string, string>) =>
    post(`${service.url}/oauth/device_authorization`, { client_id: device.clientId, ...form }).then(errorIn);

  test('is refused before a code is shown', async () => {
    const device = await newDevice(service);
    const scope = 'calendar:read';

    expect(await ask(device, {})).toBe('invalid_scope');
    expect(await ask(device, { scope: 'tool:crm' })).toBe('invalid_scope');
    expect(await ask(device, { scope, resource: 'http://localhost/unknown' })).toBe('invalid_target');
    expect(await ask(device, { scope, authorization_details: '{}' })).toBe('invalid_authorization_details');
    expect(await ask(device, { scope, request: 'x.y.z' })).toBe('request_not_supported');
    expect(await ask(device, { scope, principal_id: 'ada' })).toBe('unauthorized_client');
    expect(await ask(device, { scope, client_id: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' })).toBe('invalid_client');
    const live = await newDevice(service, await service.asDeveloper());
    expect(await ask(live, { scope })).toBe('access_denied'); // nobody could say who they are
    expect((await askDevice(device)).expires_in).toBe(600);
  });

  test('a client with a secret names the person, who signs in with a passkey or by the developer', async () => {
    const acme = await service.asDeveloper();
    const { clientId, clientSecret = '' } = await newClient(acme);
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const form = { scope: 'calendar:read', principal_id: 'ada' };

    const answer = await post(`${service.url}/oauth/device_authorization`, form, { authorization: basic });
    const id = await entered(service, Object(await answer.json()).user_code);

    expect((await acme('GET', `/v1/authorize/${id}`)).json()).toMatchObject({
      principalId: 'ada',
      channel: 'device',
    });
  });
});
