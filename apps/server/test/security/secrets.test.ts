import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { grantTo, openSession, pkce, registerAgent } from '../app/flow.ts';
import { seekingSecrets } from '../app/seeking-secrets.ts';
import type { Service } from '../app/start-app.ts';

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
