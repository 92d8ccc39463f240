import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partsOf, refusalOf } from '../../../../test/app/flow.ts';
import { newClient, pkceLink } from '../../../../test/app/oauth.ts';
import { hintClaims, linkParts, newVoucher, personOn } from '../../../../test/app/person.ts';
import {
  besideClients,
  followLink,
  LISTENING,
  newServer,
  publishClient,
  sendForm,
} from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { keepPushed } from './par.ts';

const LOGIN = 'https://app.test/login?from=agents';

let service: Service;
beforeAll(async () => {
  const env = { ...besideClients, RESOURCES_ALLOW_UNVERIFIED: 'true' };
  service = await startApp({ env, isShared: true });
});
afterAll(() => service.stop());

/** A live developer whose application signs people in, and a client that was sent to it. */
async function sentToApplication(
  members: object = { loginUrl: LOGIN },
  parameters: Record<string, string> = {},
) {
  const acme = await service.asDeveloper();
  const voucher = await newVoucher();
  await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
  const { resource } = await newServer(acme, members);
  const { clientId } = await publishClient();
  const { back, verifier } = await followLink(service, clientId, { resource, ...parameters });
  const login = back ?? new URL('about:blank');
  const returned = new URL(login.searchParams.get('return') ?? 'about:blank');
  const requestId = login.searchParams.get('areq') ?? '';
  const claims = { ...hintClaims(service, acme.developerId, { id: requestId, principalId: 'user_42' }) };
  const person = personOn(service);
  const arrive = (hint: string) =>
    person.call('POST', '/v1/oauth/arrivals', {
      body: { clientId, requestUri: returned.searchParams.get('request_uri') ?? '', hint },
    });
  return { acme, voucher, resource, clientId, verifier, login, returned, requestId, claims, person, arrive };
}

describe('14 §3 a live account whose application signs people in', () => {
  test('names the person by a hint, which proves them on the consent page too', async () => {
    const sent = await sentToApplication();
    const { acme, login, returned, requestId, person, clientId } = sent;
    const hint = await sent.voucher.hint(sent.claims);

    const { redirectTo } = (await sent.arrive(hint)).json();
    const opened = (await person.open(redirectTo, hint)).json();
    const approved = (await person.approve(requestId)).json();

    expect([login.origin + login.pathname, login.searchParams.get('from')]).toEqual([
      'https://app.test/login',
      'agents',
    ]);
    expect([returned.origin + returned.pathname, returned.searchParams.get('req')]).toEqual([
      'https://auth.test/consent',
      requestId,
    ]);
    expect(linkParts(redirectTo).id).toBe(requestId);
    expect(redirectTo.endsWith(`&hint=${hint}`)).toBe(true);
    expect(opened).toMatchObject({
      verification: { mode: 'developer', satisfied: true },
      request: { principalId: 'user_42', client: { vouchedBy: 'host' } },
    });
    const tokens = await sendForm(service, 'token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: new URL(approved.redirectTo).searchParams.get('code') ?? '',
      redirect_uri: LISTENING,
      code_verifier: sent.verifier,
    });
    expect(partsOf(tokens.json().access_token).payload).toMatchObject({ sub: 'user_42', aud: sent.resource });
    expect((await acme('GET', `/v1/authorize/${requestId}`)).json().status).toBe('consumed');
  });

  test('O27 believes no hint for another request, by another key, of another time, or without a person', async () => {
    const other = await sentToApplication();
    const stranger = await newVoucher();
    const changes: Record<string, (sent: typeof other) => Promise<string>> = {
      'another request': ({ voucher, claims }) => voucher.hint({ ...claims, areq: other.requestId }),
      'another key': ({ claims }) => stranger.hint(claims),
      'another developer': (sent) => other.voucher.hint(sent.claims),
      'another service': ({ voucher, claims }) => voucher.hint({ ...claims, aud: 'https://other.test' }),
      'another time': ({ voucher, claims: { iat = 0, ...claims } }) =>
        voucher.hint({ ...claims, iat: iat - 300, exp: iat }),
      'no person': ({ voucher, claims: { sub: _, ...claims } }) => voucher.hint(claims),
      'a person who cannot be named': ({ voucher, claims }) => voucher.hint({ ...claims, sub: 'a\nb' }),
      'no signature': async () => 'x.y.z',
    };

    for (const [name, make] of Object.entries(changes)) {
      const sent = await sentToApplication();
      const back = new URL((await sent.arrive(await make(sent))).json().redirectTo);
      expect([name, back.origin, back.searchParams.get('error')]).toEqual([
        name,
        new URL(LISTENING).origin,
        'access_denied',
      ]);
      const status = (await sent.acme('GET', `/v1/authorize/${sent.requestId}`)).statusCode;
      expect([name, status]).toEqual([name, 404]);
    }
    const good = await other.voucher.hint(other.claims);
    expect((await other.arrive(good)).json().redirectTo).toContain('/consent?req=');
  });

  test('O27 takes an arrival once, until ten minutes have passed, and only from its own page', async () => {
    const [first, late] = [await sentToApplication(), await sentToApplication()];
    const hint = await first.voucher.hint(first.claims);
    expect((await first.arrive(hint)).statusCode).toBe(200);

    expect(refusalOf(await first.arrive(hint))).toMatch(/^400/);
    const elsewhere = await service.app.inject({
      method: 'POST',
      url: '/v1/oauth/arrivals',
      headers: { origin: 'https://evil.test' },
      body: { clientId: late.clientId, requestUri: 'urn:x', hint },
    });
    expect(elsewhere.statusCode).toBe(403);
    service.advance(600);
    const lateHint = await late.voucher.hint({ ...late.claims, ...timesAt(service) });
    expect(refusalOf(await late.arrive(lateHint))).toMatch(/^400/);
  });

  test('is told how the person has to sign in, and in which languages', async () => {
    const wishes = { prompt: 'login', login_hint: 'ada@example.org', ui_locales: 'de-AT de' };

    const [plain, wished] = [await sentToApplication(), await sentToApplication(undefined, wishes)];

    const own = ['from', 'areq', 'return'];
    expect([...plain.login.searchParams.keys()]).toEqual(own);
    expect([...wished.login.searchParams.keys()]).toEqual([...own, ...Object.keys(wishes)]);
    expect(Object.fromEntries(wished.login.searchParams)).toMatchObject(wishes);
    expect(wished.returned.searchParams.get('ui_locales')).toBe(wishes.ui_locales);
  });

  test('has no sign-in method without that address', async () => {
    const { login } = await sentToApplication({});

    expect(login.searchParams.get('error_description')).toBe('no sign-in method');
  });
});

function timesAt({ clock }: Pick<Service, 'clock'>) {
  const iat = Math.floor(clock().getTime() / 1000);
  return { iat, exp: iat + 300 };
}

describe('a person whom a client names, where policies approve', () => {
  async function approving() {
    const acme = await service.asDeveloper();
    const voucher = await newVoucher();
    await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk], policyAutoApproval: true });
    await acme('POST', '/v1/policies', { name: 'All', effect: 'allow', scopes: ['calendar:read'] });
    const { resource } = await newServer(acme, { loginUrl: LOGIN });
    const own = await newClient(acme, { authMethod: 'client_secret_post', redirectUris: [LISTENING] });
    return { acme, resource, own };
  }

  async function registered() {
    const payload = {
      redirect_uris: [LISTENING],
      client_name: 'Stranger',
      token_endpoint_auth_method: 'client_secret_post',
    };
    const answer = await service.app.inject({ method: 'POST', url: '/oauth/register', payload });
    return { client_id: String(answer.json().client_id), client_secret: String(answer.json().client_secret) };
  }

  /** A client of a document, with a key of its own. */
  async function published() {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwks = { keys: [await exportJWK(publicKey)] };
    const { clientId } = await publishClient({ token_endpoint_auth_method: 'private_key_jwt', jwks });
    const assertion = await new SignJWT({ iss: clientId, sub: clientId, aud: 'https://auth.test' })
      .setProtectedHeader({ alg: 'ES256' })
      .setJti(crypto.randomUUID())
      .setExpirationTime(Math.floor(service.clock().getTime() / 1000) + 60)
      .sign(privateKey);
    return {
      client_id: clientId,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    };
  }

  async function push(credentials: Record<string, string> & { readonly client_id: string }, more: object) {
    const { link } = await pkceLink(credentials.client_id, { redirect_uri: LISTENING });
    const form = { ...Object.fromEntries(new URL(link).searchParams), ...credentials, ...more };
    return sendForm(service, 'par', form);
  }

  const back = async (clientId: string, requestUri: string) => {
    const query = new URLSearchParams({ client_id: clientId, request_uri: requestUri });
    const answer = await service.app.inject(`/oauth/authorize?${query}`);
    return new URL(String(answer.headers.location));
  };

  test.each([
    ['a secret of its own registration', registered],
    ['a key of its own document', published],
  ])('is not named by a stranger with %s', async (_name, credentialsOf) => {
    const { resource } = await approving();

    const refused = await push(await credentialsOf(), { resource, principal_id: 'victim' });

    expect([refused.statusCode, refused.json().error]).toEqual([400, 'unauthorized_client']);
    expect((await push(await credentialsOf(), { resource })).statusCode).toBe(201);
  });

  test('is asked, should a stranger have named them; a client of the developer gets its code', async () => {
    const { resource, own } = await approving();
    const stranger = await registered();
    const { link } = await pkceLink(stranger.client_id, { redirect_uri: LISTENING });
    const form = { ...Object.fromEntries(new URL(link).searchParams), resource: [resource] };
    const kept = { seconds: 90, isSignedIn: false };
    const clientId = stranger.client_id;
    const requestUri = await keepPushed(service, { clientId }, { ...form, principal_id: 'victim' }, kept);
    const credentials = { client_id: own.clientId, client_secret: own.clientSecret ?? '' };

    const asked = await back(clientId, requestUri);
    const pushed = await push(credentials, { resource, principal_id: 'ada' });
    const given = await back(own.clientId, pushed.json().request_uri);

    expect([asked.pathname, asked.searchParams.get('code')]).toEqual(['/consent', null]);
    expect(given.searchParams.get('code')).toEqual(expect.any(String));
  });
});

describe('14 §7 a device of an account whose application signs people in', () => {
  const type = (person: ReturnType<typeof personOn>, userCode: string, hint?: string) =>
    person.call('POST', '/v1/device', {
      body: { userCode, uiLocales: 'fr', ...(hint !== undefined && { hint }) },
    });

  /** A device whose person has entered its code, and was sent to the application. */
  async function sentByCode(members: object = { loginUrl: LOGIN }) {
    const acme = await service.asDeveloper();
    const voucher = await newVoucher();
    await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
    const { resource, id: resourceId } = await newServer(acme, members);
    const { clientId } = await newClient(acme, { authMethod: 'none' });
    const form = { client_id: clientId, scope: 'calendar:read', resource };
    const asked = await sendForm(service, 'device_authorization', form);
    const { user_code: userCode, device_code } = asked.json();
    const person = personOn(service);
    const enter = (hint?: string) => type(person, String(userCode), hint);
    const poll = () =>
      sendForm(service, 'token', {
        ...{ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: clientId, device_code },
      });
    return { acme, voucher, asked, userCode, person, enter, poll, resourceId };
  }

  test('is that of the person whom the application names for its code, and whom the page shows', async () => {
    const { acme, voucher, userCode, person, enter, poll } = await sentByCode();

    const login = new URL((await enter()).json().redirectTo);
    const requestId = login.searchParams.get('areq') ?? '';
    const claims = hintClaims(service, acme.developerId, { id: requestId, principalId: 'user_42' });
    const hint = await voucher.hint(claims);
    const { redirectTo } = (await enter(hint)).json();
    const { request } = (await person.open(redirectTo, hint)).json();
    const approved = await person.approve(requestId);
    service.advance(5);
    const tokens = (await poll()).json();

    expect(login.origin + login.pathname).toBe('https://app.test/login');
    expect(login.searchParams.get('return')).toBe(
      `https://auth.test/device?user_code=${userCode}&ui_locales=fr`,
    );
    expect(login.searchParams.get('ui_locales')).toBe('fr');
    expect(redirectTo).toContain('&ui_locales=fr#ticket=');
    expect(linkParts(redirectTo).id).toBe(requestId);
    expect(request).toMatchObject({ principalId: 'user_42', comparedText: userCode, channel: 'device' });
    expect(request.verification).toMatchObject({ mode: 'developer', satisfied: true });
    expect(approved.statusCode).toBe(200);
    expect(partsOf(tokens.access_token).payload).toMatchObject({ sub: 'user_42' });
  });

  test('O27 is nobody’s by a hint for another code, by another key, or before the application was asked', async () => {
    const [own, other] = [await sentByCode(), await sentByCode()];
    const idOf = async ({ enter }: typeof own) =>
      new URL((await enter()).json().redirectTo).searchParams.get('areq') ?? '';
    const otherId = await idOf(other);
    const early = await own.voucher.hint(
      hintClaims(service, own.acme.developerId, { id: otherId, principalId: 'user_42' }),
    );
    const first = (await own.enter(early)).json(); // no id was told yet, so the hint is for nothing
    const id = new URL(first.redirectTo).searchParams.get('areq') ?? '';
    const claims = hintClaims(service, own.acme.developerId, { id, principalId: 'user_42' });
    const stranger = await newVoucher();

    const refused = [
      await own.enter(early),
      await own.enter(await stranger.hint(claims)),
      await own.enter(
        await own.voucher.hint({ ...claims, iat: Number(claims.iat) - 400, exp: Number(claims.exp) - 400 }),
      ),
      await type(other.person, other.userCode, await own.voucher.hint(claims)),
    ];

    expect(first.redirectTo).toContain('https://app.test/login');
    expect(refused.map(refusalOf)).toEqual(Array(4).fill('404 NOT_FOUND'));
    expect((await own.enter(await own.voucher.hint(claims))).statusCode).toBe(200);
  });

  test('learns why, once its person enters the code and no page for them to sign in is left', async () => {
    const { acme, enter, poll, resourceId } = await sentByCode();
    const moved = await acme('PATCH', `/v1/resources/${resourceId}`, { loginUrl: null });
    expect([moved.statusCode, (await poll()).json().error]).toEqual([200, 'authorization_pending']);

    const entered = refusalOf(await enter());
    service.advance(5);

    expect([entered, refusalOf(await enter())]).toEqual(['409 CONFLICT', '404 NOT_FOUND']);
    expect((await poll()).json()).toEqual({
      error: 'access_denied',
      error_description: 'no sign-in method',
    });
  });

  test('is refused where no resource says at which page people sign in', async () => {
    const { asked } = await sentByCode({});

    expect(asked.json()).toEqual({ error: 'access_denied', error_description: 'no sign-in method' });
  });
});
