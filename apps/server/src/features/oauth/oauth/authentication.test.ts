import { describe, expect, test } from 'vitest';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import { partsOf, signedBy } from '../../../../test/app/flow.ts';
import { newClient, pkceLink, REDIRECT, startCustomer } from '../../../../test/app/oauth.ts';
import { linkParts, personOn } from '../../../../test/app/person.ts';
import { sendForm } from '../../../../test/app/published.ts';
import { startApp } from '../../../../test/app/start-app.ts';

type Customer = Awaited<ReturnType<typeof startCustomer>>;

/** Follows the links from the client to the consent page, through the provider where the service asks for that. */
async function goThrough(
  { clientId, visit, signIn, person }: Customer,
  parameters: Record<string, string> = {},
) {
  const { link, verifier } = await pkceLink(clientId, parameters);
  const first = await visit(link);
  const login = first.includes('/sso/login?') ? new URL(first) : undefined;
  const page = login ? await visit(await signIn(first)) : first;
  if (!page.includes('/consent?')) return { login, page, verifier, id: '' };
  await person.open(page);
  return { login, page, verifier, id: linkParts(page).id };
}

async function tokensOf({ person, send }: Customer, { id, verifier }: { id: string; verifier: string }) {
  const { redirectTo } = (await person.approve(id)).json();
  const code = new URL(redirectTo).searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier };
  return (await send('token', form)).json();
}

const seconds = ({ service }: Customer) => Math.floor(service.clock().getTime() / 1000);

describe('14 §4 a token states the sign-in of its person', () => {
  test('by single sign-on: time and methods as the provider has stated them, also after a refresh', async () => {
    const acme = await startCustomer();
    const ts = seconds(acme) - 30;
    acme.provider.behaviour.signedIn = { amr: ['pwd', 'otp', 'x'.repeat(33), 'mfa'], ts };

    const tokens = await tokensOf(acme, await goThrough(acme, { max_age: '600' }));
    const refreshed = (
      await acme.send('token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token })
    ).json();
    const told = (await acme.send('introspect', { token: refreshed.access_token })).json();

    const stated = { auth_time: ts, amr: ['pwd', 'otp', 'mfa'] };
    expect(partsOf(tokens.access_token).payload).toMatchObject(stated);
    expect(partsOf(refreshed.access_token).payload).toMatchObject(stated);
    expect(told).toMatchObject({ active: true, ...stated });
    expect((await acme.acme('POST', '/v1/tokens/verify', { token: tokens.access_token })).json().valid).toBe(
      true,
    );
  });

  test('by a passkey: the time at which it signed the approval, and that a person held and unlocked it', async () => {
    const service = await startApp();
    const acme = await service.asDeveloper();
    await acme('PATCH', '/v1/me', { consentMode: 'passkey' });
    const device = authenticator();
    await registerPasskey(acme, device);
    const { clientId, clientSecret = '' } = await newClient(acme, { authMethod: 'client_secret_post' });
    const send = (path: string, form: Record<string, string>) =>
      sendForm(service, path, { client_id: clientId, client_secret: clientSecret, ...form });
    const { link, verifier } = await pkceLink(clientId, { principal_id: 'user_42', max_age: '60' });
    const { request_uri: requestUri } = (
      await send('par', Object.fromEntries(new URL(link).searchParams))
    ).json();
    const query = new URLSearchParams({ client_id: clientId, request_uri: requestUri });
    const sent = await service.app.inject({
      url: `/oauth/authorize?${query}`,
      headers: { accept: 'text/html' },
    });
    const page = String(sent.headers.location);
    const person = personOn(service);
    await person.open(page);
    const { id } = linkParts(page);
    service.advance(90);

    const prove = (step: string, body: object) =>
      person.call('POST', `/v1/consent/${id}/passkey/${step}`, { body });
    const { challengeId, publicKey } = (await prove('options', {})).json();
    await prove('verify', { challengeId, response: device.get(publicKey) });
    const signedAt = Math.floor(service.clock().getTime() / 1000);
    const { redirectTo } = (await person.approve(id)).json();
    const code = new URL(redirectTo).searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier };
    const { payload } = partsOf((await send('token', form)).json().access_token);

    expect(payload).toMatchObject({ sub: 'user_42', auth_time: signedAt, amr: ['pop', 'user', 'mfa'] });
  });

  test('without a word about methods it states the time alone', async () => {
    const acme = await startCustomer();

    const { payload } = partsOf((await tokensOf(acme, await goThrough(acme))).access_token);

    expect(payload.auth_time).toBeGreaterThan(seconds(acme) - 60);
    expect(payload).not.toHaveProperty('amr');
  });

  test('a native token of the same person states none', async () => {
    const { acme, clientId, person, ...others } = await startCustomer();
    await goThrough({ acme, clientId, person, ...others });
    const asked = (
      await acme('POST', '/v1/authorize', {
        agentId: clientId,
        principalId: 'ada',
        scopes: ['calendar:read'],
      })
    ).json();
    await person.open(asked.consentUrl);
    const { code } = (await person.approve(asked.id)).json();

    const tokens = (await acme('POST', '/v1/token', { code, agentId: clientId })).json();

    const { payload } = partsOf(tokens.grantToken);
    expect([payload.sub, payload.auth_time, payload.amr]).toEqual(['ada', undefined, undefined]);
  });

  test('a delegation states the sign-in of the token that it came from', async () => {
    const acme = await startCustomer();
    acme.provider.behaviour.signedIn = { amr: ['pwd'] };
    const { access_token: subject } = await tokensOf(acme, await goThrough(acme));
    const { agentId } = (await acme.acme('POST', '/v1/agents', { name: 'Helper' })).json();
    const { clientSecret } = (
      await acme.acme('PUT', `/v1/agents/${agentId}/oauth`, {
        redirectUris: [REDIRECT],
        authMethod: 'client_secret_post',
      })
    ).json();

    const answer = await acme.service.app.inject({
      method: 'POST',
      url: '/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: subject,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        client_id: agentId,
        client_secret: clientSecret,
      }).toString(),
    });

    const { auth_time, amr } = partsOf(subject).payload;
    expect(amr).toEqual(['pwd']);
    expect(partsOf(answer.json().access_token).payload).toMatchObject({ auth_time, amr, client_id: agentId });
  });

  test('O29 a token whose sign-in was changed does not verify', async () => {
    const acme = await startCustomer();
    const { access_token: token } = await tokensOf(acme, await goThrough(acme));
    const { payload } = partsOf(token);
    const verify = async (changes: object) => {
      const changed = await signedBy(acme.service, { ...payload, ...changes });
      return (await acme.acme('POST', '/v1/tokens/verify', { token: changed })).json().valid;
    };

    expect(await verify({})).toBe(true);
    expect(await verify({ auth_time: Number(payload.auth_time) + 1 })).toBe(false);
    expect(await verify({ amr: ['mfa'] })).toBe(false);
  });
});

describe('14 §3 `max_age`, `prompt` and `ui_locales`', () => {
  test('O29 RFC 9470 §4: a sign-in that is too old does not count, and the provider is asked for a newer one', async () => {
    const acme = await startCustomer();
    await goThrough(acme);
    acme.service.advance(100);

    const young = await goThrough(acme, { max_age: '200' });
    const old = await goThrough(acme, { max_age: '50', ui_locales: 'de-AT de' });

    expect(young.login).toBeUndefined();
    expect(Object.fromEntries(old.login?.searchParams ?? [])).toMatchObject({
      max_age: '50',
      ui_locales: 'de-AT de',
    });
    expect(old.page).toContain('/consent?req=');
    expect(old.page).toContain('&ui_locales=de-AT+de#ticket=');
  });

  test('O29 a provider that is asked for a newer sign-in and reports an old one is refused', async () => {
    const acme = await startCustomer();
    acme.provider.behaviour.signedIn = { ts: seconds(acme) - 500 };
    const tooOld = await goThrough(acme, { max_age: '400' }).catch((error: unknown) => String(error));
    acme.provider.behaviour.signedIn = { ts: seconds(acme) - 380 };

    expect(JSON.stringify(tooOld)).not.toContain('/consent?req=');
    expect((await goThrough(acme, { max_age: '400' })).page).toContain('/consent?req=');
  });

  test('a sign-in counts from when the browser came first, however long its person takes to come back', async () => {
    const acme = await startCustomer();
    const { link } = await pkceLink(acme.clientId, { prompt: 'login' });
    const back = await acme.signIn(await acme.visit(link));
    acme.service.advance(300);

    const page = await acme.visit(back);
    const { verification } = (await acme.person.open(page)).json();

    expect(page).toContain('/consent?req=');
    expect(verification.satisfied).toBe(true);
    expect((await acme.person.approve(linkParts(page).id)).statusCode).toBe(200);
  });

  test('a browser that comes back with the old session is not believed, and not sent away again', async () => {
    const acme = await startCustomer();
    await goThrough(acme);
    acme.service.advance(300);
    const { link } = await pkceLink(acme.clientId, { max_age: '60', state: 's' });
    const login = new URL(await acme.visit(link));

    const refused = new URL(await acme.visit(login.searchParams.get('return_to') ?? ''));

    expect(Object.fromEntries(refused.searchParams)).toMatchObject({ error: 'access_denied', state: 's' });
  });

  test('O29 the consent page asks for a newer sign-in, where an authenticated client names the person', async () => {
    const acme = await startCustomer();
    await goThrough(acme);
    acme.service.advance(300);
    const opened = async (parameters: Record<string, string>) => {
      const { link } = await pkceLink(acme.clientId, { principal_id: 'ada', ...parameters });
      const form = Object.fromEntries(new URL(link).searchParams);
      const { request_uri: requestUri } = (await acme.send('par', form)).json();
      const query = new URLSearchParams({ client_id: acme.clientId, request_uri: requestUri });
      const page = await acme.visit(`/oauth/authorize?${query}`);
      const { verification } = (await acme.person.open(page)).json();
      return { id: linkParts(page).id, verification };
    };

    const any = await opened({});
    const aged = await opened({ max_age: '100' });
    const afresh = await opened({ prompt: 'login' });

    expect([any, aged, afresh].map(({ verification }) => verification.satisfied)).toEqual([
      true,
      false,
      false,
    ]);
    expect((await acme.person.approve(aged.id)).statusCode).toBe(403);
    const { redirectTo } = (await acme.person.call('GET', `/v1/consent/${aged.id}/sso`)).json();
    expect(new URL(redirectTo).searchParams.get('prompt')).toBe('login');
    acme.provider.behaviour.signedIn = { ts: seconds(acme) };
    await acme.signIn(redirectTo);
    expect((await acme.person.approve(aged.id)).statusCode).toBe(200);
  });

  test('an account whose people the service does not sign in gets no `max_age`, and nobody gets `acr_values`', async () => {
    const service = await startApp();
    const live = await service.asDeveloper();
    const { clientId } = await newClient(live, { authMethod: 'none' });
    const sandbox = await service.asDeveloper({ mode: 'sandbox' });
    const { clientId: inSandbox } = await newClient(sandbox, { authMethod: 'none' });
    const ask = async (client: string, parameters: Record<string, string>) => {
      const { pathname, search } = new URL((await pkceLink(client, parameters)).link);
      const answer = await service.app.inject({ url: pathname + search, headers: { accept: 'text/html' } });
      return new URL(String(answer.headers.location)).searchParams.get('error');
    };

    expect(await ask(clientId, { max_age: '60' })).toBe('unmet_authentication_requirements');
    expect(await ask(clientId, {})).toBe('access_denied');
    expect(await ask(inSandbox, { acr_values: 'phr' })).toBe('unmet_authentication_requirements');
    expect(await ask(inSandbox, { max_age: 'soon' })).toBe('invalid_request');
    expect(await ask(inSandbox, { max_age: '60', ui_locales: '<b>' })).toBeNull();
  });
});
