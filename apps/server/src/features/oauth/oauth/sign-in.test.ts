import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authenticator, newKey } from '../../../../test/app/authenticator.ts';
import { entriesOf, partsOf, refusalOf } from '../../../../test/app/flow.ts';
import { newClient, pkceLink, REDIRECT } from '../../../../test/app/oauth.ts';
import { linkParts, personOn } from '../../../../test/app/person.ts';
import { enrolDiscoverable, startShowing } from '../../../../test/app/showing-passkeys.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

type Showing = Awaited<ReturnType<typeof startShowing>>;
type Arrived = Awaited<ReturnType<Showing['arrive']>>;

/** Goes from the client's link to the consent page. */
async function goThrough(
  { arrive, begin, given, show, person }: Showing,
  parameters: Record<string, string>,
) {
  const { page, waiting, verifier } = await arrive(parameters);
  const { redirectTo } = (await show(waiting, given(await begin(waiting)))).json();
  await person.open(redirectTo);
  return { page, waiting, verifier, redirectTo: String(redirectTo), ...linkParts(redirectTo) };
}

const checkOf = (answer: Awaited<ReturnType<Showing['show']>>) => {
  const { code, details } = answer.json();
  return [code, details?.check].filter(Boolean).join(' ');
};

describe('14 §3 a person whom nobody has named', () => {
  test('is shown whose request waits, and nobody else is', async () => {
    const { acme, arrive, person } = await startShowing(service);
    await acme('PATCH', '/v1/me', { name: 'Acme & Söhne' });
    const { waiting } = await arrive();
    const brand = (body: object) => person.call('POST', '/v1/oauth/sign-ins/brand', { body });

    const plain = await brand(waiting);
    await acme('PATCH', '/v1/me/branding', { accentColor: '#7a1f5c' });
    const coloured = await brand(waiting);
    const strange = await brand({ ...waiting, requestUri: `${waiting.requestUri.slice(0, -4)}AAAA` });

    expect(plain.json()).toEqual({ developerName: 'Acme & Söhne' });
    expect(coloured.json()).toEqual({
      developerName: 'Acme & Söhne',
      branding: { accentColor: '#7a1f5c' },
    });
    expect([strange.statusCode, strange.json().developerName]).toEqual([400, undefined]);
  });

  test('shows a passkey on a page, says no name, and goes on to consent', async () => {
    const showing = await startShowing(service);
    const { acme, approve, send } = showing;
    const { page, verifier, id, redirectTo } = await goThrough(showing, {
      ...{ max_age: '60', prompt: 'login', login_hint: 'somebody-else', ui_locales: 'pt-BR' },
    });

    const record = (await acme('GET', `/v1/authorize/${id}`)).json();
    const code = (await approve(id)).searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier };
    const { payload } = partsOf((await send('token', form)).json().access_token);

    expect([page.origin + page.pathname, [...page.searchParams.keys()]]).toEqual([
      'https://auth.test/sign-in',
      ['client_id', 'request_uri', 'ui_locales'],
    ]);
    expect(redirectTo).toMatch(/^https:\/\/auth\.test\/consent\?req=areq_\w{26}&ui_locales=pt-BR#ticket=/);
    expect(record).toMatchObject({ principalId: 'user_42', status: 'pending' });
    const signedAt = Math.floor(service.clock().getTime() / 1000);
    expect(payload).toMatchObject({ sub: 'user_42', auth_time: signedAt, amr: ['pop', 'user', 'mfa'] });
    const shown = await entriesOf(acme, 'fido.assertion');
    expect(shown.map(({ metadata }) => metadata)).toEqual(
      Array(2).fill({ credentialId: expect.any(String), authRequestId: id, actor: 'principal' }),
    );
  });

  test('O32 is asked the same as everybody else, so nobody learns who has a passkey', async () => {
    const showing = await startShowing(service);
    const empty = await service.asDeveloper();
    await empty('PATCH', '/v1/me', { consentMode: 'passkey' });
    const { clientId } = await newClient(empty);

    const asked = [];
    for (const [of, hint] of [
      [showing.clientId, 'user_42'],
      [showing.clientId, 'none'],
      [clientId, 'user_42'],
    ]) {
      const page = await showing.visit((await pkceLink(String(of), { login_hint: String(hint) })).link);
      const requestUri = page.searchParams.get('request_uri') ?? '';
      asked.push((await showing.options({ clientId: String(of), requestUri })).json());
    }

    const alike = asked.map(({ publicKey: { challenge, ...others } }) => ({
      ...others,
      its: typeof challenge,
    }));
    expect(alike).toEqual(Array(3).fill(alike[0]));
    expect(alike[0]).toMatchObject({ rpId: 'auth.test', userVerification: 'required' });
    expect(alike[0].allowCredentials ?? []).toEqual([]);
  });

  test('gets another page at the client’s door, and no consent', async () => {
    const { arrive, visit, options } = await startShowing(service);
    const { page, waiting } = await arrive();

    const again = await visit(`https://auth.test/oauth/authorize${page.search}`);

    expect(again.pathname).toBe('/sign-in');
    expect((await options(waiting)).statusCode).toBe(400); // the newer page has taken its place
  });

  test('is refused where the address of the service serves no passkeys', async () => {
    const other = await startApp({ env: { PUBLIC_BASE_URL: 'http://127.0.0.1:3001' } });
    const acme = await other.asDeveloper();
    await acme('PATCH', '/v1/me', { consentMode: 'passkey' });
    const { clientId } = await newClient(acme);
    const { pathname, search } = new URL((await pkceLink(clientId)).link);

    const answer = await other.app.inject({ url: pathname + search, headers: { accept: 'text/html' } });

    const { searchParams } = new URL(String(answer.headers.location));
    expect([searchParams.get('error'), searchParams.get('error_description')]).toEqual([
      'access_denied',
      'no sign-in method',
    ]);
  });
});

describe('O32 an answer of an authenticator', () => {
  const faults: Record<string, (showing: Showing, arrived: Arrived) => Promise<readonly [object, string]>> = {
    'by another key': async ({ given, begin }, { waiting }) => [
      given(await begin(waiting), { key: newKey() }),
      'WEBAUTHN_VERIFICATION_FAILED signature',
    ],
    'without a look at the person': async ({ given, begin }, { waiting }) => [
      given(await begin(waiting), { flags: 1 }),
      'WEBAUTHN_VERIFICATION_FAILED userVerification',
    ],
    'of another page': async ({ given, begin }, { waiting }) => [
      given(await begin(waiting), { origin: 'https://evil.test' }),
      'WEBAUTHN_VERIFICATION_FAILED origin',
    ],
    'with the handle of nobody': async ({ given, begin }, { waiting }) => [
      given(await begin(waiting), { userHandle: Buffer.alloc(32).toString('base64url') }),
      'WEBAUTHN_VERIFICATION_FAILED credential',
    ],
    'without a handle': async ({ given, begin }, { waiting }) => [
      given(await begin(waiting), { userHandle: '' }),
      'WEBAUTHN_VERIFICATION_FAILED credential',
    ],
    'of an authenticator that nobody has registered': async ({ given, begin }, { waiting }) => [
      given(await begin(waiting), {}, authenticator()),
      'WEBAUTHN_VERIFICATION_FAILED credential',
    ],
    'of a principal of another developer': async ({ given, begin }, { waiting }) => {
      const device = authenticator();
      const userHandle = await enrolDiscoverable(await service.asDeveloper(), device);
      return [given(await begin(waiting), { userHandle }, device), 'WEBAUTHN_VERIFICATION_FAILED credential'];
    },
    'with the handle of another person of the account': async ({ acme, given, begin }, { waiting }) => {
      const userHandle = await enrolDiscoverable(acme, authenticator(), 'user_43');
      return [given(await begin(waiting), { userHandle }), 'WEBAUTHN_VERIFICATION_FAILED credential'];
    },
    'to the question of another request': async ({ given, begin, arrive }) => [
      given(await begin((await arrive()).waiting)),
      'CHALLENGE_INVALID',
    ],
    'to the question of another browser': async ({ given, begin }, { waiting }) => [
      given(await begin(waiting, personOn(service))),
      'CHALLENGE_INVALID',
    ],
    'to a question that was answered wrongly before': async ({ given, begin, show }, { waiting }) => {
      const asked = await begin(waiting);
      await show(waiting, given(asked, { key: newKey() }));
      return [given(asked), 'CHALLENGE_INVALID'];
    },
    'to no question': async ({ given }) => [
      given({ challengeId: 'wac_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', publicKey: { challenge: 'AAAA' } }),
      'CHALLENGE_INVALID',
    ],
  };

  test.each(Object.entries(faults))('%s names nobody, and the person can try again', async (_what, make) => {
    const showing = await startShowing(service);
    const { acme, arrive, begin, given, show } = showing;
    const arrived = await arrive();
    const { waiting } = arrived;
    const [answer, refusal] = await make(showing, arrived);

    const refused = await show(waiting, answer);
    const entries = await entriesOf(acme, 'fido.assertion');
    const good = await show(waiting, given(await begin(waiting)));

    expect([refused.statusCode, checkOf(refused)]).toEqual([400, refusal]);
    expect(entries).toEqual([]);
    expect([good.statusCode, good.json().redirectTo]).toEqual([
      200,
      expect.stringContaining('/consent?req='),
    ]);
  });

  test('counts once, for one of three that come at once, and the request goes on once', async () => {
    const { acme, arrive, begin, given, show } = await startShowing(service);
    const { waiting } = await arrive();
    const answer = given(await begin(waiting));

    const answers = await Promise.all([1, 2, 3].map(() => show(waiting, answer)));
    const later = await show(waiting, answer);

    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 400, 400]);
    expect(refusalOf(later)).toMatch(/^400 BAD_REQUEST/);
    expect(await entriesOf(acme, 'fido.assertion')).toHaveLength(1);
    expect(await entriesOf(acme, 'authorization.requested')).toHaveLength(1);
  });

  test('counts for five minutes after the question, and the request waits for ten', async () => {
    const own = await startApp();
    const { arrive, begin, given, show, options } = await startShowing(own);
    const [first, second] = [await arrive(), await arrive()];
    const [late, early] = [await begin(first.waiting), await begin(second.waiting)];
    own.advance(299);
    const good = await show(second.waiting, given(early));
    own.advance(1);
    const refused = await show(first.waiting, given(late));
    const again = await options(first.waiting);
    own.advance(300);

    expect(good.statusCode).toBe(200);
    expect([refused.statusCode, checkOf(refused)]).toEqual([400, 'CHALLENGE_INVALID']);
    expect([again.statusCode, (await options(first.waiting)).statusCode]).toEqual([200, 400]);
  });

  test('demands a look at the person even where the operator prefers it only', async () => {
    const own = await startApp({ env: { FIDO_USER_VERIFICATION: 'preferred' } });
    const { arrive, begin, given, show } = await startShowing(own);
    const { waiting } = await arrive();

    const refused = await show(waiting, given(await begin(waiting), { flags: 1 }));

    expect(checkOf(refused)).toBe('WEBAUTHN_VERIFICATION_FAILED userVerification');
    expect((await show(waiting, given(await begin(waiting)))).statusCode).toBe(200);
  });

  test('with a counter that went back marks the passkey, which names nobody from then on', async () => {
    const { acme, arrive, begin, given, show } = await startShowing(service);
    const { waiting } = await arrive();
    await show(waiting, given(await begin(waiting), { counter: 7 }));
    const next = (await arrive()).waiting;

    const refused = [
      await show(next, given(await begin(next), { counter: 6 })),
      await show(next, given(await begin(next), { counter: 9 })),
    ];

    expect(refused.map(checkOf)).toEqual(Array(2).fill('WEBAUTHN_CLONE_SUSPECTED'));
    expect(await entriesOf(acme, 'fido.clone_suspected')).toHaveLength(1);
  });

  test('is taken from the page of the service alone, for a request that waits for it', async () => {
    const { clientId, arrive, begin, given, show, options, send, person } = await startShowing(service);
    const { waiting } = await arrive();
    const asked = await begin(waiting);
    const { link } = await pkceLink(clientId);
    const pushed = (await send('par', Object.fromEntries(new URL(link).searchParams))).json();

    const elsewhere = await person.call('POST', '/v1/oauth/sign-ins/verify', {
      body: { ...waiting, ...given(asked) },
      headers: { origin: 'https://evil.test' },
    });
    const others = [
      await options({ clientId, requestUri: String(pushed.request_uri) }),
      await options({ clientId, requestUri: 'urn:ietf:params:oauth:request_uri:unknown' }),
      await options({ ...waiting, clientId: (await newClient(await service.asDeveloper())).clientId }),
    ];

    expect(elsewhere.statusCode).toBe(403);
    expect(others.map(({ statusCode }) => statusCode)).toEqual([400, 400, 400]);
    expect((await show(waiting, given(asked))).statusCode).toBe(200);
  });
});
