import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { connectReturn } from '../../../../../../docs/guides/examples/connect-hint.ts';
import { askToConnect, besideUpstream, browserOf } from '../../../../test/app/connecting.ts';
import { startApp } from '../../../../test/app/start-app.ts';

const secret = 'secret-of-acme';
const userAccess = 'gho_of_ada';

/**
 * Speaks as GitHub does to an OAuth app: forms only with `Accept: application/json` become JSON, scopes have commas, an
 * error is a 200 with `error` in its body, no token ends, and none is refreshed.
 */
async function startGitHub() {
  const codes = new Map<string, string>();
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://github.test');
    let body = '';
    for await (const part of request) body += part;
    const answer = (said: object) =>
      response
        .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(said));
    asked.push(`${request.method} ${url.pathname}`);
    if (url.pathname === '/login/oauth/access_token') {
      const form = new URLSearchParams(body);
      const isKnown = codes.get(form.get('code') ?? '') === form.get('redirect_uri');
      codes.delete(form.get('code') ?? '');
      if (form.get('client_secret') !== secret) return answer({ error: 'incorrect_client_credentials' });
      if (!isKnown) return answer({ error: 'bad_verification_code', error_uri: 'https://docs.github.com' });
      return answer({ access_token: userAccess, token_type: 'bearer', scope: 'read:org,repo' });
    }
    const isUser = request.headers.authorization === `Bearer ${userAccess}`;
    if (url.pathname === '/user' && isUser && request.headers['user-agent']) {
      return answer({ id: 583231, login: 'ada' });
    }
    response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${Object(server.address()).port}`;
  return {
    asked,
    endpoints: {
      authorizationEndpoint: `${base}/login/oauth/authorize`,
      tokenEndpoint: `${base}/login/oauth/access_token`,
      userinfoEndpoint: `${base}/user`,
    },
    /** The person allows it. @returns the address that GitHub sends the browser back to */
    allow(redirectTo: string, code = 'code-1'): URL {
      const query = new URL(redirectTo).searchParams;
      const back = new URL(query.get('redirect_uri') ?? '');
      codes.set('code-1', back.href);
      back.search = String(new URLSearchParams({ code, state: query.get('state') ?? '' }));
      return back;
    },
  };
}

/** The guide, up to the page: a live account whose application says who its people are. */
async function followGuide() {
  const github = await startGitHub();
  const service = await startApp(besideUpstream());
  const acme = await service.asDeveloper();
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  await acme('PATCH', '/v1/me', {
    consentKeys: [await exportJWK(publicKey)],
    connectLoginUrl: 'https://app.test/connect-login',
  });
  const added = await acme('POST', '/v1/vault/providers', {
    service: 'github',
    preset: 'github',
    ...github.endpoints,
    clientId: 'Iv1.of-acme',
    clientSecret: secret,
    scopes: { required: ['repo'], optional: ['read:org'] },
  });
  const session = await askToConnect(acme, { service: 'github', scopes: ['read:org'] });
  const browser = browserOf(service);
  const { loginUrl } = (await browser.open(session)).json();
  const voucher = { developerId: acme.developerId, issuer: 'https://auth.test', privateKey };
  const back = new URL(await connectReturn(new URL(loginUrl).searchParams, 'user_42', voucher));
  await browser.hint(session.id, new URLSearchParams(back.hash.slice(1)).get('hint') ?? '');
  const { redirectTo } = (await browser.start(session.id)).json();
  return { github, service, acme, provider: added.json(), session, browser, redirectTo: String(redirectTo) };
}

test('the guide connects GitHub, whose tokens have no end and whose scopes have commas', async () => {
  const { github, acme, provider, session, browser, redirectTo } = await followGuide();
  expect(provider).toMatchObject({
    name: 'GitHub',
    redirectUri: `https://auth.test/connect/callback/${provider.id}`,
    authMethod: 'client_secret_post',
    hasClientSecret: true,
  });
  expect(new URL(redirectTo).searchParams.get('scope')).toBe('repo read:org');

  await browser.callback(github.allow(redirectTo));
  expect((await browser.show(session.id)).json().connect.result).toMatchObject({
    accountLabel: 'ada',
    scopesGranted: ['read:org', 'repo'],
    missing: [],
  });
  const { credentialId } = (await browser.confirm(session.id)).json();

  expect((await acme('GET', `/v1/vault/credentials/${credentialId}`)).json()).toMatchObject({
    tokenExpiresAt: null,
    hasRefreshToken: false,
    refreshStatus: 'none',
    connection: { account: { id: '583231', label: 'ada' }, method: 'developer', status: 'connected' },
  });
});

test('an error in a 200 of GitHub is no token', async () => {
  const { github, browser, session, redirectTo } = await followGuide();

  await browser.callback(github.allow(redirectTo, 'code-of-nobody'));

  expect((await browser.show(session.id)).json()).toMatchObject({
    status: 'pending',
    reason: 'token_request',
  });
});
