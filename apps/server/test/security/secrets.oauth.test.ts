import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { newClient, pkceLink } from '../app/oauth.ts';
import { personOn } from '../app/person.ts';
import { LISTENING, newServer, sendForm, tokensOf } from '../app/published.ts';
import { seekingSecrets } from '../app/seeking-secrets.ts';
import type { Developer, Service } from '../app/start-app.ts';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const CIBA = 'urn:openid:params:grant-type:ciba';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS = 'urn:ietf:params:oauth:token-type:access_token';
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Sends a form, as a client or with a bearer. */
const sender =
  (service: Service, credentials: Record<string, string>, bearer?: string) =>
  async (path: string, form: Record<string, string>) => {
    const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    const answer = await sendForm(service, path, { ...form, ...credentials }, { headers });
    return answer.body === '' ? {} : answer.json();
  };

/** A pushed request, a code, tokens and their exchange by a resource, of a client that sends its secret in the form. */
async function byPush(service: Service, acme: Developer) {
  const { resource, credential } = await newServer(acme);
  const { clientId, clientSecret = '' } = await newClient(acme, {
    ...{ authMethod: 'client_secret_post', redirectUris: [LISTENING] },
  });
  const send = sender(service, { client_id: clientId, client_secret: clientSecret });
  const asked = { redirect_uri: LISTENING, resource, scope: 'calendar:read vault:github:read' };
  const { link, verifier } = await pkceLink(clientId, asked);
  const { request_uri: requestUri } = await send('par', Object.fromEntries(new URL(link).searchParams));
  const { request_uri: unused } = await send('par', Object.fromEntries(new URL(link).searchParams));
  const query = new URLSearchParams({ client_id: clientId, request_uri: requestUri });
  const { headers } = await service.app.inject(`/oauth/authorize?${query}`);
  const code = new URL(String(headers.location)).searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', redirect_uri: LISTENING, code, code_verifier: verifier };
  const tokens = await send('token', form);
  await send('token', form); // a second time, which is refused and recorded
  const refreshToken = tokens.refresh_token;
  const refreshed = await send('token', { grant_type: 'refresh_token', refresh_token: refreshToken });
  const asResource = sender(service, {}, credential);
  await asResource('introspect', { token: refreshed.access_token });
  const exchange = { grant_type: EXCHANGE, subject_token_type: ACCESS };
  const exchanged = await asResource('token', { ...exchange, subject_token: refreshed.access_token });
  await send('introspect', { token: refreshed.access_token });
  await send('revoke', { token: refreshed.refresh_token });
  return {
    ...{ clientSecret, credential, verifier, requestUri, unused, code },
    ...{ accessToken: tokens.access_token, refreshToken, exchangedToken: exchanged.access_token },
    ...{ nextAccessToken: refreshed.access_token, nextRefreshToken: refreshed.refresh_token },
  };
}

/** A device and a backchannel, of a client that sends its secret in the form. */
async function byChannels(service: Service, acme: Developer) {
  const { clientId, clientSecret = '' } = await newClient(acme, { authMethod: 'client_secret_post' });
  const send = sender(service, { client_id: clientId, client_secret: clientSecret });
  const form = { scope: 'calendar:read', login_hint: 'ada' };
  const [waiting, device] = [
    await send('device_authorization', form),
    await send('device_authorization', form),
  ];
  const entry = { body: { userCode: device.user_code } };
  const { redirectTo } = (await personOn(service).call('POST', '/v1/device', entry)).json();
  const id = new URL(redirectTo).searchParams.get('req');
  await acme('POST', `/v1/authorize/${id}/approve`, {});
  const tokens = await send('token', { grant_type: DEVICE, device_code: device.device_code });
  const backchannel = await send('bc-authorize', form);
  await send('token', { grant_type: CIBA, auth_req_id: backchannel.auth_req_id });
  const userCode = String(waiting.user_code);
  return {
    userCode,
    secrets: {
      ...{ channelSecret: clientSecret, deviceCode: device.device_code, waitingCode: waiting.device_code },
      ...{ authReqId: backchannel.auth_req_id, deviceToken: tokens.access_token },
    },
  };
}

/** A client by a key, one that registered itself, and a receiver of signals. */
async function byOthers(service: Service, acme: Developer) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const publicKeyJwk = await exportJWK(publicKey);
  const { clientId } = await newClient(acme, { authMethod: 'private_key_jwt', publicKeyJwk });
  const assertion = await new SignJWT({ iss: clientId, sub: clientId, aud: 'https://auth.test' })
    .setProtectedHeader({ alg: 'ES256' })
    .setJti(crypto.randomUUID())
    .setExpirationTime(Math.floor(service.clock().getTime() / 1000) + 60)
    .sign(privateKey);
  const proof = { client_assertion_type: ASSERTION, client_assertion: assertion };
  const device = await sender(service, proof)('device_authorization', { scope: 'calendar:read' });

  const registered = await service.app.inject({
    ...{ method: 'POST', url: '/oauth/register' },
    payload: { redirect_uris: [LISTENING], token_endpoint_auth_method: 'client_secret_post' },
  });
  const { client_id, client_secret, registration_access_token } = registered.json();
  await sender(service, { client_id, client_secret })('revoke', { token: 'x' });
  const open = await service.app.inject({
    ...{ method: 'POST', url: '/oauth/register' },
    payload: { redirect_uris: [LISTENING], grant_types: ['authorization_code', 'refresh_token'] },
  });
  const { resource } = await newServer(acme);
  const tokens = (await tokensOf(service, open.json().client_id, resource)).json();

  const receiver = (await acme('POST', '/v1/ssf/receivers', { name: 'SIEM' })).json();
  const asReceiver = { client_id: receiver.receiverId, client_secret: receiver.clientSecret };
  const signal = await sender(service, asReceiver)('token', { grant_type: 'client_credentials' });
  return {
    ...{ assertion, keyedDeviceCode: device.device_code },
    ...{ registeredSecret: client_secret, registrationToken: registration_access_token },
    // It ends with the id of the developer, which is no secret.
    ...{ openToken: tokens.access_token, openRefreshToken: String(tokens.refresh_token).split('.')[0] },
    ...{ receiverSecret: receiver.clientSecret, signalToken: signal.access_token },
  };
}

test.each(['debug', 'info'] as const)(
  'R8, L1: no secret of OAuth clients, and no code of a device, is in the database, in Redis or in the log at level %s',
  async (logLevel) => {
    let userCode = '';
    const { kept, printed } = await seekingSecrets({ logLevel }, async (service) => {
      const acme = await service.asDeveloper({ mode: 'sandbox' });
      const channels = await byChannels(service, acme);
      userCode = channels.userCode;
      const [pushed, others] = [await byPush(service, acme), await byOthers(service, acme)];
      return { ...pushed, ...channels.secrets, ...others };
    });

    expect(userCode).toMatch(/^[A-Z]{4}-[A-Z]{4}$/); // it is too short for the list above
    for (const text of [kept.database, kept.log, kept.redis.join()]) {
      for (const code of [userCode, userCode.replace('-', '')]) expect(text.includes(code)).toBe(false);
    }
    expect(kept.database).toContain('ada'); // it is there to be read
    expect(kept.redis.length).toBeGreaterThan(20);
    expect(printed).toBeGreaterThan(15);
  },
);
