import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { authenticator, registerPasskey } from '../../../../test/app/authenticator.ts';
import { addProvider, askToConnect, browserOf } from '../../../../test/app/connecting.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { newVoucher } from '../../../../test/app/person.ts';
import { addOidc, besideProvider, provision, signOn } from '../../../../test/app/signing-on.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ ...besideProvider({ CONNECT_ALLOW_PRIVATE_HOSTS: 'true' }), isShared: true });
});
afterAll(() => service.stop());

type Browser = ReturnType<typeof browserOf>;

/** A live developer with an upstream, and with a customer whose provider makes its people just in time. */
async function startCustomer(settings: object = {}) {
  const provider = await startAccountsServer();
  const upstream = await startAccountsServer();
  const acme = await service.asDeveloper();
  await verifyAddress(service, acme);
  const voucher = await newVoucher();
  const connectLoginUrl = 'https://app.test/connect-login';
  await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk], connectLoginUrl });
  const connection = await addOidc(acme, provider, { scimManaged: true });
  await provision(service, acme);
  await acme('PATCH', '/v1/me', settings);
  await addProvider(acme, upstream);

  const ask = (principalId = 'ada') => askToConnect(acme, { principalId });
  /** Opens the page with the developer's word for the person. */
  async function openVouched(session: Awaited<ReturnType<typeof ask>>, claims: object = {}) {
    const browser = browserOf(service);
    const { nonce } = (await browser.open(session)).json();
    const iat = Math.floor(service.clock().getTime() / 1000);
    const who = { iss: acme.developerId, aud: 'https://auth.test', sub: session.principalId, ...claims };
    const bound = { conn: session.id, nonce, iat, exp: iat + 60 };
    const hint = await voucher.hint({ ...who, ...bound }, { typ: 'connect-hint+jwt' });
    const hinted = (await browser.hint(session.id, hint)).json();
    return { browser, verification: hinted.verification };
  }
  /** Follows the page's way to the identity provider and back, as the person's browser does. */
  async function signIn(browser: Browser, id: string) {
    const sent = await browser.follow(String((await browser.signOn(id)).json().redirectTo));
    return browser.callback(await provider.visit(String(sent.headers.location)));
  }
  /** Enforces single sign-on for Ada, who has signed in. */
  async function enforce() {
    await signOn(service, provider, { org: acme.developerId });
    const enforced = await acme('POST', '/v1/sso/enforce', { enforce: true });
    if (enforced.statusCode !== 200) throw new Error(enforced.body);
  }
  return { provider, upstream, acme, connection, ask, openVouched, signIn, enforce };
}

const stateOf = async (browser: Browser, id: string) => (await browser.show(id)).json().verification;

test('under `sso` the page leads the person to the provider and back, and the link is spent', async () => {
  const { upstream, acme, connection, ask, signIn } = await startCustomer({ consentMode: 'sso' });
  const session = await ask();
  const { id } = session;
  const browser = browserOf(service);

  const { verification, loginUrl } = (await browser.open(session)).json();
  const early = await browser.start(id);
  const isOpenYet = (await browserOf(service).open(session)).statusCode;
  await browser.open(session);
  const login = (await browser.signOn(id, '?ui_locales=ja+de')).json().redirectTo;
  const back = await signIn(browser, id);

  expect(Object.fromEntries(new URL(login).searchParams)).toMatchObject({
    ui_locales: 'ja de',
    return_to: `/connect?session=${id}&ui_locales=ja+de`,
  });
  expect(verification).toEqual({ mode: 'sso', satisfied: false, methods: ['sso'], signInHere: true });
  expect(loginUrl).toBeNull();
  expect(early.json()).toMatchObject({
    code: 'SSO_REQUIRED',
    details: {
      connectionId: connection.id,
      loginUrl: `https://auth.test/sso/login?org=${acme.developerId}&connection=${connection.id}`,
    },
  });
  expect(isOpenYet).toBe(200);
  expect(back.headers.location).toBe(`/connect?session=${id}`);
  expect(await stateOf(browser, id)).toMatchObject({ mode: 'sso', satisfied: true });
  expect((await browserOf(service).open(session)).statusCode).toBe(404);
  await browser.callback(await upstream.visit((await browser.start(id)).json().redirectTo));
  expect((await browser.confirm(id)).json()).toMatchObject({ status: 'connected' });
  const [credential] = (await acme('GET', '/v1/vault/credentials')).json().credentials;
  expect(credential).toMatchObject({ principalId: 'ada', connection: { method: 'sso' } });
});

test('M12: a hint connects nothing where sign-on is enforced, and does for everybody else', async () => {
  const { upstream, ask, openVouched, signIn, enforce } = await startCustomer();
  await enforce();
  const [mine, others] = [await ask(), await ask('user_42')];

  const { browser, verification } = await openVouched(mine);
  const other = await openVouched(others);

  expect(verification).toEqual({
    mode: 'developer',
    satisfied: false,
    methods: ['sso'],
    signInHere: true,
  });
  expect(refusalOf(await browser.start(mine.id))).toBe('403 SSO_REQUIRED');
  expect(other.verification).toMatchObject({ mode: 'developer', satisfied: true }); // the control
  expect((await other.browser.start(others.id)).statusCode).toBe(200);
  await signIn(browser, mine.id);
  expect(await stateOf(browser, mine.id)).toMatchObject({ mode: 'developer', satisfied: true });
  await browser.callback(await upstream.visit((await browser.start(mine.id)).json().redirectTo));
  expect((await browser.confirm(mine.id)).statusCode).toBe(200);
});

test('M12: a sign-on connects nothing without the proof of the developer', async () => {
  const { ask, signIn, enforce } = await startCustomer();
  await enforce();
  const session = await ask();
  const browser = browserOf(service);

  const opened = (await browser.open(session)).json();
  await signIn(browser, session.id);

  expect(opened.verification).toMatchObject({ satisfied: false, methods: ['hint', 'sso'] });
  expect(opened.loginUrl).toMatch(/^https:\/\/app\.test\/connect-login\?/);
  expect(await stateOf(browser, session.id)).toMatchObject({ satisfied: false, methods: ['hint'] });
  expect(refusalOf(await browser.start(session.id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
});

test('M12: neither a mailed code nor a passkey connects anything where sign-on is enforced', async () => {
  const mailed = await startCustomer({ consentMode: 'email' });
  await mailed.enforce();
  const session = await mailed.ask();
  const { browser } = await mailed.openVouched(session, { email: 'ada@example.org' });
  await browser.code(session.id);
  const code = /^ {4}(\d{8})$/m.exec(service.mails.sent()[0]?.text ?? '')?.[1] ?? '';
  const checked = await browser.checkCode(session.id, code);
  expect(checked.json().verification).toMatchObject({ mode: 'email', satisfied: false, methods: ['sso'] });
  expect(refusalOf(await browser.start(session.id))).toBe('403 SSO_REQUIRED');
  await mailed.signIn(browser, session.id);
  expect((await browser.start(session.id)).statusCode).toBe(200); // the control

  const { acme, ask, signIn, enforce } = await startCustomer({ consentMode: 'passkey' });
  await enforce();
  const device = authenticator();
  await registerPasskey(acme, device, { principalId: 'ada' });
  const { id, ...link } = await ask();
  const person = browserOf(service);
  await person.open({ id, ...link });
  const { challengeId, publicKey } = (await person.passkeyOptions(id)).json();
  const proved = await person.passkey(id, { challengeId, response: device.get(publicKey) });
  expect(proved.json().verification).toMatchObject({ mode: 'passkey', satisfied: false, methods: ['sso'] });
  expect(refusalOf(await person.start(id))).toBe('403 SSO_REQUIRED');
  await signIn(person, id);
  expect((await person.start(id)).statusCode).toBe(200); // the control
});

test('M12: somebody else who signs in connects nothing', async () => {
  const { provider, ask, signIn } = await startCustomer({ consentMode: 'sso' });
  const session = await ask();
  const browser = browserOf(service);
  await browser.open(session);
  provider.behaviour.account = 'grace';

  await signIn(browser, session.id);

  expect(await stateOf(browser, session.id)).toMatchObject({ satisfied: false, otherPerson: true });
  expect(refusalOf(await browser.start(session.id))).toBe('403 SSO_REQUIRED');
  provider.behaviour.account = 'ada';
  await signIn(browser, session.id);
  expect((await browser.start(session.id)).statusCode).toBe(200); // the control
});

test('M12: an enforcement that begins on the way takes no answer, and lets nothing be confirmed', async () => {
  const { upstream, acme, ask, openVouched, signIn, enforce } = await startCustomer();
  const sessions = [await ask(), await ask()] as const;
  const [away, returned] = [await openVouched(sessions[0]), await openVouched(sessions[1])];
  const begun = (await away.browser.start(sessions[0].id)).json();
  const before = (await returned.browser.start(sessions[1].id)).json();
  await returned.browser.callback(await upstream.visit(before.redirectTo));
  const answer = await upstream.visit(begun.redirectTo);

  await enforce();

  expect((await away.browser.callback(answer)).statusCode).toBe(400);
  expect((await acme('GET', `/v1/vault/connect-sessions/${sessions[0].id}`)).json().status).toBe('started');
  const [blocked] = await entriesOf(acme, 'vault.connection.blocked');
  expect(blocked?.metadata).toMatchObject({ connectSessionId: sessions[0].id, reason: 'browser' });
  expect(refusalOf(await returned.browser.confirm(sessions[1].id))).toBe('403 SSO_REQUIRED');
  expect((await acme('GET', '/v1/vault/credentials')).json().total).toBe(0);
  await signIn(returned.browser, sessions[1].id);
  expect((await returned.browser.confirm(sessions[1].id)).statusCode).toBe(200); // the control
});

test('M12: a session of single sign-on that ends on the way lets nothing be confirmed', async () => {
  const { upstream, acme, ask, signIn } = await startCustomer({ consentMode: 'sso' });
  const session = await ask();
  const browser = browserOf(service);
  await browser.open(session);
  await signIn(browser, session.id);
  await browser.callback(await upstream.visit((await browser.start(session.id)).json().redirectTo));
  const [signedOn] = (await acme('GET', '/v1/sso/sessions')).json().sessions;

  await acme('DELETE', `/v1/sso/sessions/${signedOn.id}`);

  expect(refusalOf(await browser.confirm(session.id))).toBe('403 SSO_REQUIRED');
  await signIn(browser, session.id);
  expect((await browser.confirm(session.id)).statusCode).toBe(200); // the control
});
