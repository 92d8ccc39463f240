import { randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { approverBrowser, enrolApprover, payer, release, signedApproval } from '../app/approving.ts';
import { grantTo, openSession, pkce, registerAgent } from '../app/flow.ts';
import { newClient, pkceLink } from '../app/oauth.ts';
import { personOn } from '../app/person.ts';
import { LISTENING, newServer, sendForm, tokensOf } from '../app/published.ts';
import { seekingSecrets } from '../app/seeking-secrets.ts';
import type { Developer, Service } from '../app/start-app.ts';

/** Everything that the service says only once, from signing up to the last refresh. */
async function wholeFlow(service: Service) {
  const { app, asDeveloper } = service;
  const [live, sandbox] = [await asDeveloper(), await asDeveloper({ mode: 'sandbox' })];
  const made = (await live('POST', '/v1/keys', { name: 'backend' })).json();
  const rotated = (await service.calling(made.apiKey)('POST', '/v1/keys/rotate', {})).json();

  const webhook = { url: 'https://hooks.acme.test/', events: ['*'] };
  const { webhookId, secret: webhookSecret } = (await live('POST', '/v1/webhooks', webhook)).json();
  const sync = (await live('POST', '/v1/policies/sync/secret')).json();
  const renewed = (await live('POST', `/v1/webhooks/${webhookId}/rotate-secret`, {})).json();

  const { agentId } = await registerAgent(live);
  const redirectUri = 'https://app.test/back';
  await live('PATCH', '/v1/me', { redirectUris: [redirectUri] });
  const { codeVerifier, asked } = pkce();
  const request = { agentId, principalId: 'user_42', scopes: ['calendar:read'], redirectUri, ...asked };
  const authorized = (await live('POST', '/v1/authorize', request)).json();
  const ticket = /[A-Za-z0-9_-]{43}/.exec(new URL(authorized.consentUrl).href)?.[0] ?? '';
  const id = authorized.authRequestId;
  const opened = await app.inject({ method: 'POST', url: `/v1/consent/${id}/session`, body: { ticket } });
  const [cookie] = opened.cookies;
  const { csrfToken } = opened.json();
  const approved = await app.inject({
    method: 'POST',
    url: `/v1/consent/${id}/approve`,
    cookies: { [cookie?.name ?? '']: cookie?.value ?? '' },
    headers: { 'x-csrf-token': csrfToken },
    body: {},
  });
  const { code } = approved.json();
  const exchange = { code, agentId, redirectUri, codeVerifier };
  const issued = (await live('POST', '/v1/token', exchange)).json();
  const { sessionToken } = (await openSession(live)).json();
  await service.calling(sessionToken)('GET', '/v1/principal/grants');
  const refresh = { refreshToken: issued.refreshToken, agentId };
  const refreshed = (await live('POST', '/v1/token/refresh', refresh)).json();
  await live('POST', '/v1/tokens/verify', { token: refreshed.grantToken });
  await live('POST', '/v1/token', exchange); // a second time, which is refused and recorded
  await live('POST', '/v1/token/refresh', refresh);
  await live('POST', '/v1/tokens/revoke', { token: refreshed.grantToken });
  const upstream = {
    accessToken: randomBytes(40).toString('hex'),
    refreshToken: randomBytes(40).toString('hex'),
  };
  const clientSecret = randomBytes(40).toString('hex');
  const refreshing = { tokenEndpoint: 'https://upstream.acme.com/token', clientId: 'behest', clientSecret };
  const credential = { principalId: 'user_42', service: 'github', ...upstream, refresh: refreshing };
  await sandbox('POST', '/v1/vault/credentials', credential);
  await sandbox('POST', '/v1/vault/credentials', { ...credential, service: 'vault' }); // refused
  const held = await grantTo(sandbox, { scopes: ['github:read'] });
  const body = { service: 'github' };
  const taken = await service.calling(held.grantToken)('POST', '/v1/vault/credentials/exchange', body);
  expect(taken.json().accessToken).toBe(upstream.accessToken);
  const unasked = (
    await sandbox('POST', '/v1/authorize', {
      agentId: (await registerAgent(sandbox)).agentId,
      principalId: 'user_42',
      scopes: ['calendar:read'],
    })
  ).json();

  return {
    apiKey: live.apiKey,
    sandboxKey: sandbox.apiKey,
    madeKey: made.apiKey,
    rotatedKey: rotated.apiKey,
    webhookSecret,
    renewedWebhookSecret: renewed.secret,
    policySyncSecret: sync.secret,
    ticket,
    cookie: cookie?.value,
    csrfToken,
    code,
    codeVerifier,
    sandboxCode: unasked.code,
    sessionToken,
    grantToken: issued.grantToken,
    refreshToken: issued.refreshToken,
    nextGrantToken: refreshed.grantToken,
    nextRefreshToken: refreshed.refreshToken,
    upstreamAccessToken: upstream.accessToken,
    upstreamRefreshToken: upstream.refreshToken,
    upstreamClientSecret: clientSecret,
    exchangingToken: held.grantToken,
  };
}

test.each(['debug', 'info'] as const)(
  'R8, L1: no secret that was given out is in the database, in Redis’ values or in the log at level %s',
  async (logLevel) => {
    const { kept, printed } = await seekingSecrets({ logLevel }, wholeFlow);

    expect(kept.database).toContain('user_42'); // it is there to be read
    expect(kept.redis.length).toBeGreaterThan(2);
    expect(printed).toBeGreaterThan(15);
  },
);

const channelUrl = `https://hooks.slack.test/services/${'c'.repeat(10)}-of-the-channel-of-finance`;
const secretOf = (cookie = '') => cookie.slice(cookie.lastIndexOf('.') + 1);

/** Everything that the service says only once, from an invitation to the last use of a decision. */
async function wholeLife(service: Service) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await acme('POST', '/v1/decision-channels', { kind: 'slack', name: 'Finance', url: channelUrl });
  const unused = { email: 'cleo@example.org', displayName: 'Cleo' };
  const { link } = (await acme('POST', '/v1/approvers', unused)).json();
  const agent = await payer(acme);
  const ada = await enrolApprover(service, acme, 'ada@example.org');
  const bob = await enrolApprover(service, acme, 'bob@example.org');
  const opened = (await bob.signIn()).json();
  const [session, device] = [...bob.browser.cookies.values()];

  const { decisionId } = (await agent.ask({ ...release, summary: 'Rent of May' })).json();
  await ada.approve(decisionId);
  const approval = await signedApproval(bob, decisionId);
  await service.app.inject({ method: 'POST', ...approval });
  const [first, second] = await agent.grantsOf(decisionId);
  await agent.enforce({ ...release, decisionGrants: [first, second] });
  await agent.enforce({ ...release, decisionGrants: [first, second] }); // a second time, which is refused
  await service.runJob('care of decisions');
  await service.runJob('notices of decisions');
  await approverBrowser(service).call('GET', '/v1/approver/session'); // without a session

  return {
    invitation: secretOf(String(link).split('#invite=')[1]),
    session: secretOf(session),
    device,
    csrfToken: opened.csrfToken,
    sentCsrfToken: approval.headers['x-csrf-token'],
    firstGrant: first,
    secondGrant: second,
    channelUrl,
    grantToken: agent.grantToken,
  };
}

test.each(['debug', 'info'] as const)(
  'R8, L1: no secret of approvers and their decisions is in the database, in Redis’ values or in the log at level %s',
  async (logLevel) => {
    const { kept, printed } = await seekingSecrets({ logLevel }, wholeLife);

    for (const there of ['ada@example.org', 'Rent of May', 'ACME Ltd']) {
      expect(kept.database).toContain(there);
      expect(kept.log).not.toContain(there);
    }
    expect(printed).toBeGreaterThan(15);
  },
);

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
