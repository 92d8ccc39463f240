import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import {
  addProvider,
  askToConnect,
  besideUpstream,
  browserOf,
  connectAccount,
} from '../../../../test/app/connecting.ts';
import { entriesOf, grantTo, openSession, refusalOf, startSandbox } from '../../../../test/app/flow.ts';
import { startApp, type TestOptions } from '../../../../test/app/start-app.ts';
import { stepping } from '../../../../test/app/steps.ts';
import { exchange } from '../../../../test/app/vault.ts';

const loginUrl = 'https://app.test/connect-login';
const files = { service: 'files' };

/** A live developer whose application signs people in, and an upstream. */
async function startLive() {
  const upstream = await startAccountsServer();
  const service = await startApp(besideUpstream());
  const acme = await service.asDeveloper();
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const settings = { consentKeys: [await exportJWK(publicKey)], connectLoginUrl: loginUrl };
  await acme('PATCH', '/v1/me', settings);
  const provider = await addProvider(acme, upstream);
  const now = () => Math.floor(service.clock().getTime() / 1000);
  /** As the developer's application does for the person who signed in there. */
  const hint = (claims: JWTPayload, typ = 'connect-hint+jwt') =>
    new SignJWT({ sub: 'alice', ...claims })
      .setProtectedHeader({ alg: 'ES256', typ })
      .setIssuer(acme.developerId)
      .setAudience('https://auth.test')
      .setIssuedAt(now())
      .setExpirationTime(now() + 60)
      .sign(privateKey);
  return { upstream, service, acme, provider, hint };
}

/** A browser that has opened a link and knows its nonce. */
async function opened(service: Parameters<typeof browserOf>[0], session: { id: string; ticket: string }) {
  const browser = browserOf(service);
  const answer = await browser.open(session);
  return { browser, answer, nonce: String(answer.json().nonce) };
}

/** A sandbox with two browsers that have each begun a session of their own. */
async function startTwo(options: TestOptions = {}) {
  const upstream = await startAccountsServer();
  const sandbox = await startSandbox({ ...besideUpstream(), ...options });
  const { acme, service } = sandbox;
  const provider = await addProvider(acme, upstream);
  const begin = async (principalId: string) => {
    const session = await askToConnect(acme, { principalId });
    const browser = browserOf(service);
    await browser.open(session);
    const { redirectTo } = (await browser.start(session.id)).json();
    const status = async () => (await acme('GET', `/v1/vault/connect-sessions/${session.id}`)).json().status;
    return { session, browser, redirectTo: String(redirectTo), status };
  };
  return { ...sandbox, upstream, provider, alice: await begin('alice'), mallory: await begin('mallory') };
}

describe('a link', () => {
  test('V16: is of no use to anybody but its principal, whatever hint comes with it', async () => {
    const { service, acme, hint } = await startLive();
    const session = await askToConnect(acme, { principalId: 'mallory' });
    const mallory = await opened(service, session);
    const alice = await opened(service, session); // Mallory sent it to Alice
    const conn = session.id;
    const tries = [
      await hint({ conn, nonce: alice.nonce, sub: 'alice' }), // Alice is signed in at the application
      await hint({ conn, nonce: mallory.nonce, sub: 'mallory' }), // Mallory's browser has this nonce
      await hint({ conn, nonce: alice.nonce, sub: 'mallory' }, 'consent-hint+jwt'),
      await hint({ areq: conn, nonce: alice.nonce, sub: 'mallory' }),
    ];

    for (const tried of tries) {
      expect((await alice.browser.hint(conn, tried)).json().verification.satisfied).toBe(false);
      expect(refusalOf(await alice.browser.start(conn))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    }
    const [blocked] = await entriesOf(acme, 'vault.connection.blocked');
    expect(blocked?.metadata).toMatchObject({ connectSessionId: conn, reason: 'proof' });

    const again = await opened(service, session);
    const own = await hint({ conn, nonce: again.nonce, sub: 'mallory' });
    expect((await again.browser.hint(conn, own)).json().verification.satisfied).toBe(true); // the control
    expect((await again.browser.start(conn)).statusCode).toBe(200);
    expect((await opened(service, session)).answer.statusCode).toBe(404); // spent
    expect((await again.browser.hint(conn, own)).json().verification.satisfied).toBe(true);
  });

  test('O22: takes each hint once, so that a second showing does not make its proof last longer', async () => {
    const { service, acme, hint } = await startLive();
    const session = await askToConnect(acme, { principalId: 'alice' });
    const { browser, nonce } = await opened(service, session);
    const own = await hint({ conn: session.id, nonce });
    const show = async () => (await browser.hint(session.id, own)).json().verification.satisfied;
    const isProved = async () => (await browser.show(session.id)).json().verification.satisfied;

    expect(await show()).toBe(true);
    service.advance(50); // the hint is good for a minute
    expect(await show()).toBe(true); // by the proof that stands
    const [blocked] = await entriesOf(acme, 'vault.connection.blocked');
    expect(blocked?.metadata).toMatchObject({ connectSessionId: session.id, reason: 'proof' });
    service.advance(15 * 60 - 51);
    expect(await isProved()).toBe(true); // the control
    service.advance(1);
    expect(await isProved()).toBe(false);
  });

  test('names the page of the application that signs the person in, with the nonce of this browser', async () => {
    const { service, acme } = await startLive();
    const session = await askToConnect(acme, { principalId: 'alice' });
    const { answer, nonce } = await opened(service, session);

    const url = new URL(answer.json().loginUrl);

    expect(url.origin + url.pathname).toBe(loginUrl);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      connect: session.id,
      nonce,
      return: `https://auth.test/connect?session=${session.id}`,
    });
  });

  test('is not made where nobody could prove to be the principal', async () => {
    const { acme } = await startLive();
    const ask = () => acme('POST', '/v1/vault/connect-sessions', { ...files, principalId: 'alice' });
    expect((await ask()).statusCode).toBe(201);

    await acme('PATCH', '/v1/me', { connectLoginUrl: null });
    expect((await ask()).json().details).toEqual({ field: 'connectLoginUrl' });
    await acme('PATCH', '/v1/me', { connectLoginUrl: loginUrl, consentKeys: [] });
    expect((await ask()).json().details).toEqual({ field: 'consentKeys' });
  });

  test.each(['an API key', 'a grant token', 'a session of the principal'])(
    'takes %s for no proof',
    async (what) => {
      const { service, acme } = await startSandbox(besideUpstream());
      const { grantToken } = await grantTo(acme, { scopes: ['files:read'] });
      const { sessionToken } = (await openSession(acme)).json();
      const upstream = await startAccountsServer();
      await addProvider(acme, upstream);
      const session = await askToConnect(acme);
      const token = { 'an API key': acme.apiKey, 'a grant token': grantToken }[what] ?? sessionToken;
      const url = `/v1/connect/${session.id}/session`;
      const body = { ticket: session.ticket };
      const headers = { authorization: `Bearer ${token}` };

      const refused = await service.app.inject({ method: 'POST', url, body, headers });

      expect(refusalOf(refused)).toBe('403 CONSENT_REQUIRED');
      expect((await service.app.inject({ method: 'POST', url, body })).statusCode).toBe(200);
    },
  );

  test('is made by an agent for its own principal and the services of its grant alone', async () => {
    const { acme, app } = await startSandbox(besideUpstream());
    const upstream = await startAccountsServer();
    await addProvider(acme, upstream);
    const ask = async (scopes: string[], body: object) => {
      const { grantToken } = await grantTo(acme, { scopes });
      const headers = { authorization: `Bearer ${grantToken}` };
      return app.inject({ method: 'POST', url: '/v1/vault/credentials/connect', headers, body });
    };

    expect((await ask(['files:read'], files)).json()).toMatchObject({ principalId: 'user_42', ...files });
    expect((await ask(['vault:files:proxy'], files)).statusCode).toBe(201);
    expect((await ask(['github:read'], files)).statusCode).toBe(403);
    expect((await ask(['files:read'], { ...files, principalId: 'alice' })).statusCode).toBe(400);
    expect(refusalOf(await ask(['files:read'], { ...files, scopes: ['files:admin'] }))).toBe(
      '400 INVALID_SCOPE',
    );
  });
});

describe('an answer of the upstream', () => {
  test('V16: counts in the browser alone that began, and no code is redeemed for another', async () => {
    const { upstream, alice, mallory } = await startTwo();
    const back = await upstream.visit(mallory.redirectTo); // Alice followed Mallory's link to the upstream

    expect((await alice.browser.callback(back)).statusCode).toBe(400);
    expect(upstream.tokenCalls()).toBe(0);
    expect(await mallory.status()).toBe('started');

    const { redirectTo } = (await mallory.browser.start(mallory.session.id)).json();
    expect((await mallory.browser.callback(await upstream.visit(redirectTo))).statusCode).toBe(303);
    expect(await mallory.status()).toBe('returned'); // the control
  });

  test('31 ruling 5: in another browser uses no state up, so its own person still lands', async () => {
    const { upstream, alice, mallory } = await startTwo();
    const back = await upstream.visit(alice.redirectTo);

    expect((await mallory.browser.callback(back)).statusCode).toBe(400);
    expect((await alice.browser.callback(back)).statusCode).toBe(303);
    expect((await alice.browser.callback(back)).statusCode).toBe(400); // it worked once
    expect(upstream.tokenCalls()).toBe(1);
  });

  test('V16: with a foreign code under one’s own state fails at the upstream, by its verifier', async () => {
    const { upstream, alice, mallory } = await startTwo();
    const foreign = await upstream.visit(mallory.redirectTo);
    const own = await upstream.visit(alice.redirectTo);
    const mixed = new URL(own);
    mixed.searchParams.set('code', foreign.searchParams.get('code') ?? '');

    await alice.browser.callback(mixed);

    expect(upstream.tokenCalls()).toBe(1);
    expect((await alice.browser.show(alice.session.id)).json()).toMatchObject({
      status: 'pending',
      reason: 'token_request',
      connect: { result: null },
    });
  });

  test.each<[string, (back: URL) => unknown, number]>([
    ['a state that was used', () => {}, 2],
    ['two states', ({ searchParams }) => searchParams.append('state', 'x'), 1],
    ['a state that the service never sent', ({ searchParams }) => searchParams.set('state', 'x.y'), 1],
    ['another issuer', ({ searchParams }) => searchParams.set('iss', 'https://mallory.test'), 1],
    [
      'an issuer with a slash more',
      ({ searchParams }) => searchParams.set('iss', `${searchParams.get('iss')}/`),
      1,
    ],
    ['no issuer, where the upstream names itself', ({ searchParams }) => searchParams.delete('iss'), 1],
    [
      'the path of another provider',
      (back) => Object.assign(back, { pathname: '/connect/callback/prov_1' }),
      1,
    ],
  ])('with %s leads nowhere', async (_, change, times) => {
    const { upstream, alice } = await startTwo();
    const back = await upstream.visit(alice.redirectTo);
    const good = new URL(back);
    change(back);

    if (times === 2) await alice.browser.callback(good);
    const refused = await alice.browser.callback(back);

    expect([refused.statusCode, refused.headers.location]).toEqual([400, undefined]);
    expect(upstream.tokenCalls()).toBe(times - 1);
  });

  test('after ten minutes leads nowhere', async () => {
    const { upstream, alice, service } = await startTwo({ store: 'memory' }); // it keeps the time of the test
    const back = await upstream.visit(alice.redirectTo);

    service.advance(600);

    expect((await alice.browser.callback(back)).statusCode).toBe(400);
    expect(upstream.tokenCalls()).toBe(0);
  });

  test('with an error of another issuer leads nowhere, and the error counts for nothing', async () => {
    const { upstream, alice } = await startTwo();
    const back = await upstream.visit(alice.redirectTo);
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('iss', 'https://mallory.test');

    const refused = await alice.browser.callback(back);

    expect([refused.statusCode, refused.headers.location]).toEqual([400, undefined]);
    expect(await alice.status()).not.toBe('denied');
  });

  /** An error as the upstream says it. */
  const answered = (redirectTo: string, error: string) => {
    const asked = new URL(redirectTo).searchParams;
    const back = new URL(asked.get('redirect_uri') ?? '');
    const answer = { error, state: asked.get('state') ?? '', iss: new URL(redirectTo).origin };
    back.search = String(new URLSearchParams(answer));
    return back;
  };

  test('with an error is a refusal of the person, or lets them try again', async () => {
    const { alice, mallory } = await startTwo();

    await alice.browser.callback(answered(alice.redirectTo, 'access_denied'));
    await mallory.browser.callback(answered(mallory.redirectTo, 'server_error'));

    expect(await alice.status()).toBe('denied');
    expect(await mallory.status()).toBe('pending');
  });

  test('K2, K5: leaves out what has no value, and has a code of up to 8 KiB', async () => {
    const { upstream, alice, mallory } = await startTwo();
    const [back, other] = [await upstream.visit(alice.redirectTo), await upstream.visit(mallory.redirectTo)];
    for (const name of ['error', 'error_description']) back.searchParams.set(name, '');
    back.searchParams.set('code', 'c'.repeat(8192));
    other.searchParams.set('code', 'c'.repeat(8193));

    await alice.browser.callback(back);
    expect(upstream.tokenCalls()).toBe(1);
    await mallory.browser.callback(other);
    expect(upstream.tokenCalls()).toBe(1);
  });

  test('with an error for the fifth time ends the session', async () => {
    const { alice } = await startTwo();
    const statuses: string[] = [];
    let { redirectTo } = alice;
    for (let start = 1; start <= 5; start += 1) {
      await alice.browser.callback(answered(redirectTo, 'server_error'));
      statuses.push(await alice.status());
      if (start < 5) ({ redirectTo } = (await alice.browser.start(alice.session.id)).json());
    }

    expect(statuses).toEqual([...Array(4).fill('pending'), 'failed']);
  });

  test('is taken once when it comes twice at once', async () => {
    const steps = stepping();
    const { upstream, alice } = await startTwo({ dbAs: steps.dbAs, storeAs: steps.storeAs });
    const back = await upstream.visit(alice.redirectTo);
    let second: Awaited<ReturnType<typeof alice.browser.callback>> | undefined;

    const { outcome } = await steps.walk(
      async () => await alice.browser.callback(back),
      'get', // both have read the state, and neither has removed it
      async () => {
        second ??= await alice.browser.callback(back);
      },
    );

    expect([outcome.statusCode, second?.statusCode].toSorted()).toEqual([303, 400]);
    expect(upstream.tokenCalls()).toBe(1);
  });

  test('stays good when it is confirmed while its expiry is recorded, by an instance whose clock is behind', async () => {
    const steps = stepping();
    const { upstream, alice, service } = await startTwo({ dbAs: steps.dbAs });
    await alice.browser.callback(await upstream.visit(alice.redirectTo));
    service.advance(600);
    let confirmed: Awaited<ReturnType<typeof alice.browser.confirm>> | undefined;

    await steps.walk(
      async () => await service.runJob('expiry of connect sessions'),
      'Select connect_sessions', // it is found due
      async () => {
        service.advance(-1);
        confirmed = await alice.browser.confirm(alice.session.id);
      },
    );

    expect(confirmed?.statusCode).toBe(200);
    expect(upstream.calls.filter((call) => call.includes('revocation'))).toEqual([]);
  });

  test('with too few scopes stores nothing', async () => {
    const { upstream, alice } = await startTwo();
    upstream.behaviour.refused = ['files:read'];

    await alice.browser.callback(await upstream.visit(alice.redirectTo));

    expect((await alice.browser.show(alice.session.id)).json()).toMatchObject({ reason: 'scopes_missing' });
    expect((await alice.browser.confirm(alice.session.id)).statusCode).toBe(410);
  });
});

describe('a provider', () => {
  test('is refused by its metadata, and each reason is named', async () => {
    const { acme } = await startSandbox(besideUpstream());
    const { issuer, behaviour } = await startAccountsServer();
    const good = {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
    };
    const reasonFor = async (change: object) => {
      behaviour.instead = ({ url }, respond) => {
        if (!url?.startsWith('/.well-known/')) return false;
        respond(200, { ...good, ...change });
        return true;
      };
      const body = { service: 'files', kind: 'oidc', issuer, clientId: 'c', clientSecret: 's' };
      const answer = await acme('POST', '/v1/vault/providers', body);
      return answer.statusCode === 201 ? 'added' : refusalOf(answer);
    };

    expect(await reasonFor({ issuer: `${issuer}/` })).toBe('400 DISCOVERY_FAILED issuer_mismatch');
    expect(await reasonFor({ code_challenge_methods_supported: ['plain'] })).toBe(
      '400 DISCOVERY_FAILED pkce',
    );
    expect(await reasonFor({ authorization_endpoint: 'javascript:alert(1)' })).toBe(
      '400 DISCOVERY_FAILED blocked_address',
    );
    expect(await reasonFor({ response_types_supported: ['token'] })).toBe('400 DISCOVERY_FAILED unsupported');
    expect(await reasonFor({ id_token_signing_alg_values_supported: ['HS256'] })).toBe(
      '400 DISCOVERY_FAILED unsupported',
    );
    expect(await reasonFor({})).toBe('added');
  });

  test.each([
    'http://127.0.0.1:1/',
    'https://169.254.169.254/latest',
    'https://[::1]/',
    'https://metadata.google.internal/',
    'https://user:pw@files.example/',
    'https://files.example/#x',
  ])('at %s is not asked', async (issuer) => {
    const { acme } = await startSandbox();

    const answer = await acme('POST', '/v1/vault/providers', { service: 'files', kind: 'oidc', issuer });

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
  });

  test('V18: with another token endpoint sends no secret there, and its connections end', async () => {
    const { acme, service } = await startSandbox(besideUpstream());
    const [upstream, mallory] = [await startAccountsServer(), await startAccountsServer()];
    const provider = await addProvider(acme, upstream);
    const { grantToken } = await grantTo(acme, { scopes: ['files:read'] });
    await connectAccount(service, acme, upstream);
    const endpoints = { issuer: mallory.issuer, clientId: 'moved' };

    const withoutSecret = await acme('PATCH', `/v1/vault/providers/${provider.id}`, {
      ...endpoints,
      authMethod: 'client_secret_basic',
    });
    expect(withoutSecret.json().details).toEqual({ field: 'clientSecret' });
    const moved = await acme('PATCH', `/v1/vault/providers/${provider.id}`, {
      ...endpoints,
      clientSecret: 'a secret for the new endpoint',
    });
    expect(moved.statusCode).toBe(200);
    service.advance(3700);
    const { grantToken: later } = await grantTo(acme, { scopes: ['files:read'] });

    expect(refusalOf(await exchange(service, later, files))).toBe(
      '409 REAUTHORIZATION_REQUIRED provider_changed',
    );
    expect(mallory.tokenCalls()).toBe(0);
    expect(grantToken).not.toBe(later);
  });

  test('stays while accounts are connected through it', async () => {
    const { acme, service } = await startSandbox(besideUpstream());
    const upstream = await startAccountsServer();
    const provider = await addProvider(acme, upstream);
    const { credentialId } = await connectAccount(service, acme, upstream);
    const path = `/v1/vault/providers/${provider.id}`;

    expect((await acme('DELETE', path)).json().details).toEqual({ field: 'connections' });
    expect((await acme('DELETE', `/v1/vault/credentials/${credentialId}`)).statusCode).toBe(204);
    expect((await acme('DELETE', path)).statusCode).toBe(204);
  });
});

describe('the tokens of a connected account', () => {
  /** A connected account whose access token is about to end. */
  async function due() {
    const sandbox = await startSandbox(besideUpstream());
    const upstream = await startAccountsServer();
    await addProvider(sandbox.acme, upstream);
    await connectAccount(sandbox.service, sandbox.acme, upstream);
    sandbox.advance(3570);
    const { grantToken } = await grantTo(sandbox.acme, { scopes: ['files:read'] });
    return { ...sandbox, upstream, grantToken };
  }

  test('are refreshed once, however many ask', async () => {
    const { service, upstream, grantToken } = await due();
    const before = upstream.tokenCalls();

    const answers = await Promise.all(Array.from({ length: 12 }, () => exchange(service, grantToken, files)));

    expect(new Set(answers.map((answer) => answer.json().accessToken)).size).toBe(1);
    expect(upstream.tokenCalls() - before).toBe(1);
  });

  test('are handed out to their end when the upstream refuses to refresh, and then the person is needed', async () => {
    const { acme, service, upstream, grantToken } = await due();
    upstream.behaviour.instead = ({ url }, respond) => {
      if (url !== '/token') return false;
      respond(400, { error: 'invalid_grant' });
      return true;
    };

    expect((await exchange(service, grantToken, files)).statusCode).toBe(200);
    service.advance(40);
    const refused = await exchange(service, grantToken, files);

    expect(refusalOf(refused)).toBe('409 REAUTHORIZATION_REQUIRED refresh_refused');
    expect(await entriesOf(acme, 'vault.connection.reauthorization_required')).toHaveLength(1);
  });

  test('stay where the fault is the provider’s client', async () => {
    const { acme, service, upstream, grantToken } = await due();
    service.advance(40);
    upstream.behaviour.instead = ({ url }, respond) => {
      if (url !== '/token') return false;
      respond(401, { error: 'invalid_client' });
      return true;
    };

    expect((await exchange(service, grantToken, files)).statusCode).toBe(502);
    const [provider] = (await acme('GET', '/v1/vault/providers')).json().providers;
    expect(provider).toMatchObject({ status: 'active', lastError: 'invalid_client' });
    upstream.behaviour.instead = () => false;
    service.advance(2);
    expect((await exchange(service, grantToken, files)).statusCode).toBe(200);
  });

  test('are not handed out for scopes that the person did not allow', async () => {
    const { service, grantToken } = await due();
    const asking = (upstreamScopes: string[]) => exchange(service, grantToken, { ...files, upstreamScopes });

    const refused = await asking(['files:write']);

    expect(refused.json().details).toMatchObject({
      reason: 'scopes_missing',
      missingScopes: ['files:write'],
    });
    expect((await asking(['files:read'])).statusCode).toBe(200);
  });
});
