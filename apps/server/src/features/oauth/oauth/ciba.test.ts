import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entriesOf, partsOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import {
  askDevice,
  CIBA_GRANT,
  DEVICE_GRANT,
  discover,
  entered,
  errorIn,
  newClient,
  newResource,
  post,
} from '../../../../test/app/oauth.ts';
import { linkParts, personOn } from '../../../../test/app/person.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true });
});
afterAll(() => service.stop());

async function newAsker(developer?: Developer) {
  const acme = developer ?? (await service.asDeveloper({ mode: 'sandbox' }));
  const { clientId, clientSecret = '' } = await newClient(acme);
  const config = await discover(service.url, clientId, openid.ClientSecretBasic(clientSecret));
  const headers = { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` };
  const call = (path: string, form: Record<string, string>) =>
    post(`${service.url}/oauth/${path}`, form, headers);
  const ask = (form: Record<string, string> = {}) =>
    call('bc-authorize', { scope: 'calendar:read', login_hint: 'ada', ...form });
  const poll = (id: string) => call('token', { grant_type: CIBA_GRANT, auth_req_id: id });
  /** The request, as the developer hears of it. */
  const heard = async () => {
    const [entry] = await entriesOf(acme, 'authorization.requested');
    return String(Object(entry?.metadata).authRequestId);
  };
  return { acme, clientId, clientSecret, config, call, ask, poll, heard };
}

describe('OpenID CIBA, poll mode', () => {
  test('a client names a person, who decides by the link of their developer', async () => {
    const { acme, config, clientId, heard } = await newAsker();
    const resource = 'http://localhost/ciba';
    await newResource(acme, resource);
    const started = await openid.initiateBackchannelAuthentication(config, {
      scope: 'calendar:read',
      login_hint: 'ada',
      binding_message: 'Order 4711',
      resource,
    });
    expect(started).toMatchObject({ expires_in: 300, interval: 5, auth_req_id: expect.any(String) });

    const id = await heard();
    const link = (await acme('POST', `/v1/authorize/${id}/link`, {})).json();
    const person = personOn(service);
    const shown = (await person.open(link.consentUrl)).json().request;
    const decided = (await person.approve(linkParts(link.consentUrl).id)).json();
    const tokens = await openid.pollBackchannelAuthenticationGrant(config, { ...started, interval: 0 });

    expect(shown).toMatchObject({ channel: 'ciba', comparedText: 'Order 4711', principalId: 'ada' });
    expect(decided).toEqual({ status: 'approved' });
    expect(partsOf(tokens.access_token).payload).toMatchObject({
      sub: 'ada',
      client_id: clientId,
      aud: resource,
    });
  });

  test('another independent client reads the same answers', async () => {
    const { acme, clientId, clientSecret, heard } = await newAsker();
    const allow = { [oauth.allowInsecureRequests]: true } as const;
    const issuer = new URL(service.url);
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...allow }),
    );
    const client = { client_id: clientId };
    const auth = oauth.ClientSecretPost(clientSecret);
    const form = new URLSearchParams({ scope: 'calendar:read', login_hint: 'ada' });
    await acme('PUT', `/v1/agents/${clientId}/oauth`, {
      redirectUris: ['https://client.test/cb'],
      authMethod: 'client_secret_post',
    });

    const asked = await oauth.backchannelAuthenticationRequest(server, client, auth, form, allow);
    const started = await oauth.processBackchannelAuthenticationResponse(server, client, asked);
    await acme('POST', `/v1/authorize/${await heard()}/approve`, {});
    const polled = await oauth.backchannelAuthenticationGrantRequest(
      server,
      client,
      auth,
      started.auth_req_id,
      allow,
    );
    const tokens = await oauth.processBackchannelAuthenticationGrantResponse(server, client, polled);

    expect(tokens.scope).toBe('calendar:read');
  });

  test('a client waits, hurries, is denied, and comes late', async () => {
    const { acme, ask, poll, heard } = await newAsker();
    const { auth_req_id: denied } = Object(await (await ask()).json());
    expect(await errorIn(await poll(denied))).toBe('authorization_pending');
    expect(await errorIn(await poll(denied))).toBe('slow_down');
    await acme('POST', `/v1/authorize/${await heard()}/deny`, {});
    service.advance(10);
    expect(await errorIn(await poll(denied))).toBe('access_denied');

    const { auth_req_id: late, expires_in } = Object(await (await ask({ requested_expiry: '90' })).json());
    expect(expires_in).toBe(90);
    service.advance(89.999);
    expect(await errorIn(await poll(late))).toBe('authorization_pending');
    service.advance(0.001);
    expect((await acme('POST', `/v1/authorize/${await heard()}/link`, {})).statusCode).toBe(410);
    service.advance(5);
    expect(await errorIn(await poll(late))).toBe('expired_token');
  });
});

test('a request that its developer has withdrawn reads as denied', async () => {
  const { acme, ask, poll, heard } = await newAsker();
  const { auth_req_id: withdrawn } = Object(await (await ask()).json());
  expect(await errorIn(await poll(withdrawn))).toBe('authorization_pending');

  expect((await acme('DELETE', `/v1/authorize/${await heard()}`)).statusCode).toBe(204);
  service.advance(5);

  expect(await errorIn(await poll(withdrawn))).toBe('access_denied');
});

test('a poll is of use to its client, by its own grant type, and once', async () => {
  const [own, other] = [await newAsker(), await newAsker()];
  const { auth_req_id: id } = Object(await (await own.ask()).json());
  const asked = await own.heard();
  const device = await askDevice(own);
  const byDevice = { grant_type: DEVICE_GRANT, device_code: id };
  for (const request of [asked, await entered(service, device.user_code)]) {
    await own.acme('POST', `/v1/authorize/${request}/approve`, {});
  }

  expect(await errorIn(await own.poll('x'.repeat(43)))).toBe('expired_token');
  expect(await errorIn(await own.poll('x'))).toBe('invalid_grant');
  expect(await errorIn(await other.poll(id))).toBe('invalid_grant');
  expect(await errorIn(await own.call('token', byDevice))).toBe('invalid_grant');
  expect(await errorIn(await own.poll(device.device_code))).toBe('invalid_grant');
  service.advance(10);
  const tokens = Object(await (await own.poll(id)).json());
  expect(tokens.scope).toBe('calendar:read');
  expect((await openid.refreshTokenGrant(own.config, tokens.refresh_token)).scope).toBe('calendar:read');
  expect((await own.call('token', { ...byDevice, device_code: device.device_code })).status).toBe(200);
  service.advance(5);
  expect(await errorIn(await own.poll(id))).toBe('invalid_grant');
});

describe('a request by backchannel that is not good', () => {
  test.each([
    ['invalid_request', 'two hints', { login_hint_token: 'x' }],
    ['invalid_request', 'a hint of OpenID', { id_token_hint: 'x' }],
    ['invalid_request', 'a time that is too short', { requested_expiry: '59' }],
    ['invalid_request', 'a time that is no number', { requested_expiry: '1e3' }],
    ['invalid_binding_message', 'a message that is too long', { binding_message: 'x'.repeat(65) }],
    ['invalid_binding_message', 'a message that cannot be seen', { binding_message: 'pay\u202E1' }],
    ['invalid_binding_message', 'an empty message', { binding_message: '  ' }],
    ['unknown_user_id', 'a person with a control character', { login_hint: 'a\u0001' }],
    ['invalid_scope', 'no scope', { scope: '' }],
    ['invalid_target', 'an unknown resource', { resource: 'http://localhost/unknown' }],
  ])('%s: %s; without it the request is taken', async (error, _, form) => {
    const { ask } = await newAsker();

    expect(await errorIn(await ask(form))).toBe(error);
    expect((await ask()).status).toBe(200);
  });

  test('unauthorized_client: a client that anyone can claim to be', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { clientId } = await newClient(acme, { authMethod: 'none' });
    const form = { client_id: clientId, scope: 'calendar:read', login_hint: 'ada' };

    expect(await errorIn(await post(`${service.url}/oauth/bc-authorize`, form))).toBe('unauthorized_client');
  });

  test('access_denied: a person too many for the plan', async () => {
    const small = await startListening({ env: { PLAN_FREE_OPEN_REQUESTS: '1' } });
    const acme = await small.asDeveloper({ mode: 'sandbox' });
    const { clientId, clientSecret = '' } = await newClient(acme);
    const headers = {
      authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
    };
    const form = { scope: 'calendar:read', login_hint: 'ada' };
    const ask = (path: string) => post(`${small.url}/oauth/${path}`, form, headers);

    expect((await ask('bc-authorize')).status).toBe(200);
    for (const path of ['bc-authorize', 'device_authorization']) {
      expect(Object(await (await ask(path)).json())).toMatchObject({
        error: 'access_denied',
        error_description: expect.stringMatching(/^PLAN_LIMIT_EXCEEDED/),
      });
    }
    await small.stop();
  });
});

describe('a link', () => {
  test('replaces the one before, and is for requests that wait', async () => {
    const { acme, clientId, ask, heard } = await newAsker();
    await ask();
    const id = await heard();
    const [first, second] = [
      (await acme('POST', `/v1/authorize/${id}/link`, {})).json(),
      (await acme('POST', `/v1/authorize/${id}/link`, {})).json(),
    ];

    expect((await personOn(service).open(first.consentUrl)).statusCode).toBe(404);
    expect((await personOn(service).open(second.consentUrl)).statusCode).toBe(200);
    const native = { agentId: clientId, principalId: 'ada', scopes: ['a:b'], autoApprove: false };
    const { authRequestId } = (await acme('POST', '/v1/authorize', native)).json();
    expect((await acme('POST', `/v1/authorize/${authRequestId}/link`, {})).statusCode).toBe(201);
    await acme('POST', `/v1/authorize/${authRequestId}/approve`, {});
    expect((await acme('POST', `/v1/authorize/${authRequestId}/link`, {})).statusCode).toBe(410);
    const other = await service.asDeveloper({ mode: 'sandbox' });
    expect((await other('POST', `/v1/authorize/${id}/link`, {})).statusCode).toBe(404);
  });
});
