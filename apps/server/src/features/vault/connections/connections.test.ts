import { describe, expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import {
  addProvider,
  askToConnect,
  besideUpstream,
  browserOf,
  connectAccount,
} from '../../../../test/app/connecting.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import {
  actionsOf,
  entriesOf,
  grantTo,
  openSession,
  refusalOf,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { newVoucher } from '../../../../test/app/person.ts';
import { onThisMachine, putProfile, through } from '../../../../test/app/proxy.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { exchange } from '../../../../test/app/vault.ts';

/** A sandbox with a provider at a real authorization server. */
async function startConnecting(members: object = {}) {
  const upstream = await startAccountsServer();
  const sandbox = await startSandbox(besideUpstream());
  const provider = await addProvider(sandbox.acme, upstream, members);
  return { ...sandbox, upstream, provider };
}

const files = { service: 'files' };

describe('a person connects an account', () => {
  test('from a link, over the upstream and back, and the agent gets its token', async () => {
    const { acme, service, upstream, provider } = await startConnecting();
    const { grantToken } = await grantTo(acme, { scopes: ['files:read'] });
    expect(await exchange(service, grantToken, files).then((answer) => answer.json().details)).toEqual({
      reason: 'not_connected',
      connectable: true,
    });
    const session = await askToConnect(acme);
    expect(session).toMatchObject({
      providerId: provider.id,
      status: 'pending',
      scopes: ['openid', 'files:read', 'offline_access'],
    });
    const browser = browserOf(service);

    const opened = (await browser.open(session)).json();
    expect(opened.connect).toMatchObject({
      principalId: 'user_42',
      providerName: 'Files',
      authorizationHost: new URL(upstream.issuer).host,
      current: null,
      result: null,
      sandbox: true,
    });
    const { redirectTo } = (await browser.start(session.id)).json();
    const back = await upstream.visit(redirectTo);
    const landed = await browser.callback(back);
    expect([landed.statusCode, landed.headers.location]).toEqual([
      303,
      `https://auth.test/connect?session=${session.id}`,
    ]);
    expect((await acme('GET', '/v1/vault/credentials')).json().total).toBe(0); // nothing before Confirm
    expect((await browser.show(session.id)).json().connect.result).toEqual({
      accountLabel: 'ada',
      accountKnown: true,
      replaces: false,
      scopesGranted: ['openid', 'files:read', 'offline_access'],
      missing: [],
    });
    const confirmed = await browser.confirm(session.id);

    expect(confirmed.json()).toMatchObject({ status: 'connected' });
    const { accessToken, metadata } = (await exchange(service, grantToken, files)).json();
    expect(await upstream.accessTokenOf(accessToken)).toMatchObject({ accountId: 'ada' });
    expect(metadata).toEqual({
      account: { id: 'ada', label: null },
      scopes: ['openid', 'files:read', 'offline_access'],
    });
    const shown = (await acme('GET', `/v1/vault/credentials/${confirmed.json().credentialId}`)).json();
    expect(shown).toMatchObject({
      service: 'files',
      refreshStatus: 'ok',
      hasRefreshToken: true,
      connection: { providerId: provider.id, status: 'connected', missingScopes: [], method: 'sandbox' },
    });
    const about = ['vault.connection.requested', 'vault.credential.stored', 'vault.connection.connected'];
    expect((await actionsOf(acme)).filter((action) => about.includes(action))).toEqual(about);
  });

  test('again with the same account, without a question, and with another only when they say so', async () => {
    const { acme, service, upstream } = await startConnecting();
    const first = await connectAccount(service, acme, upstream);
    expect((await connectAccount(service, acme, upstream)).credentialId).toBe(first.credentialId);
    upstream.behaviour.account = 'mallory';
    const session = await askToConnect(acme);
    const browser = browserOf(service);
    await browser.open(session);
    await browser.callback(await upstream.visit((await browser.start(session.id)).json().redirectTo));

    const { result } = (await browser.show(session.id)).json().connect;
    expect(result).toMatchObject({ accountLabel: 'mallory', replaces: true });
    const refused = await browser.confirm(session.id);
    expect([refusalOf(refused), refused.json().details.field]).toEqual(['409 CONFLICT', 'replaceAccount']);
    expect((await browser.confirm(session.id, { replaceAccount: true })).json().credentialId).toBe(
      first.credentialId,
    );
  });

  test('and sees and disconnects it in their own session, which revokes it at the upstream', async () => {
    const { acme, app, service, upstream } = await startConnecting();
    const { grantToken } = await grantTo(acme, { scopes: ['files:read'] });
    const { credentialId } = await connectAccount(service, acme, upstream);
    const { accessToken } = (await exchange(service, grantToken, files)).json();
    const { sessionToken } = (await openSession(acme)).json();
    const headers = { authorization: `Bearer ${sessionToken}` };
    const own = async () =>
      (await app.inject({ url: '/v1/principal/connections', headers })).json().connections;

    expect(await own()).toMatchObject([
      { id: credentialId, service: 'files', providerName: 'Files', status: 'connected' },
    ]);
    const url = `/v1/principal/connections/${credentialId}`;
    expect((await app.inject({ method: 'DELETE', url, headers })).statusCode).toBe(204);

    expect(await own()).toEqual([]);
    expect(await upstream.accessTokenOf(accessToken)).toBeUndefined();
    expect((await exchange(service, grantToken, files)).statusCode).toBe(404);
    expect((await app.inject({ method: 'DELETE', url, headers })).statusCode).toBe(404);
    const [entry] = await entriesOf(acme, 'vault.connection.disconnected');
    expect(entry?.metadata).toMatchObject({ by: 'principal', upstream: 'revoked' });
  });
});

const EMAIL = 'ada@example.org';

/** A live developer whose people prove by a mailed code, and a browser with the hint that names the address. */
async function startMailed() {
  const upstream = await startAccountsServer();
  const service = await startApp(besideUpstream());
  const acme = await service.asDeveloper();
  await verifyAddress(service, acme);
  const voucher = await newVoucher();
  const connectLoginUrl = 'https://app.test/connect-login';
  await acme('PATCH', '/v1/me', { consentMode: 'email', consentKeys: [voucher.jwk], connectLoginUrl });
  await addProvider(acme, upstream);
  const session = await askToConnect(acme);
  const browser = browserOf(service);
  /** Opens the page anew. @returns the word of the application for the person at this address */
  const vouch = async (email: string) => {
    const { nonce } = (await browser.open(session)).json();
    const seconds = Math.floor(service.clock().getTime() / 1000);
    const times = { iat: seconds, exp: seconds + 60 };
    const who = { iss: acme.developerId, aud: 'https://auth.test', sub: 'user_42', email };
    return voucher.hint({ ...who, ...times, conn: session.id, nonce }, { typ: 'connect-hint+jwt' });
  };
  const hint = await vouch(EMAIL);
  const read = () => /^ {4}(\d{8})$/m.exec(service.mails.sent()[0]?.text ?? '')?.[1] ?? '';
  const open = () => browserOf(service).open(session);
  return { acme, service, upstream, session, browser, hint, vouch, read, open };
}

const another = (code: string) => String((Number(code) + 1) % 100_000_000).padStart(8, '0');

test('V16: a mailed code proves the person at the page, and spends the link for all other browsers', async () => {
  const { acme, service, upstream, session, browser, hint, read, open } = await startMailed();
  const { id } = session;

  const early = await browser.code(id);
  const { verification } = (await browser.hint(id, hint)).json();
  expect(verification).toEqual({ mode: 'email', satisfied: false, methods: ['email'] });
  expect(refusalOf(early)).toBe('409 CONFLICT');
  expect(refusalOf(await browser.start(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
  expect((await browser.code(id)).statusCode).toBe(201);
  expect(service.mails.sent()[0]).toMatchObject({
    to: EMAIL,
    subject: `${read()} is your code to connect an account`,
    account: 'Acme',
    text: expect.stringContaining(`The application: Acme`),
  });
  await browser.code(id, { 'accept-language': 'fr-CA' });
  expect(service.mails.sent()[0]).toMatchObject({
    subject: `${read()} est votre code pour connecter un compte`,
    language: 'fr',
  });
  expect((await browser.checkCode(id, another(read()))).statusCode).toBe(400);
  expect(refusalOf(await browser.start(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
  const checked = await browser.checkCode(id, read());

  expect(checked.json().verification).toMatchObject({ mode: 'email', satisfied: true });
  expect((await open()).statusCode).toBe(404);
  await browser.callback(await upstream.visit((await browser.start(id)).json().redirectTo));
  expect((await browser.confirm(id)).json()).toMatchObject({ status: 'connected' });
  const [credential] = (await acme('GET', '/v1/vault/credentials')).json().credentials;
  expect(credential.connection.method).toBe('email');
  const [blocked] = await entriesOf(acme, 'vault.connection.blocked');
  expect(blocked?.metadata).toMatchObject({ connectSessionId: id, reason: 'proof' });
});

test('V16: a mailed code proves nothing for another address than its own', async () => {
  const { session, browser, hint, vouch, read } = await startMailed();
  const { id } = session;
  await browser.hint(id, hint);
  await browser.code(id);
  await browser.hint(id, await vouch('grace@example.org'));

  expect(refusalOf(await browser.checkCode(id, read()))).toBe('400 BAD_REQUEST');
  await browser.hint(id, await vouch(EMAIL));
  expect((await browser.checkCode(id, read())).statusCode).toBe(200); // the control
});

test('a mailed code is given up after its last try, and ends with its time', async () => {
  const { service, session, browser, hint, read } = await startMailed();
  const { id } = session;
  await browser.hint(id, hint);
  await browser.code(id);
  service.advance(600);

  expect((await browser.checkCode(id, read())).json().code).toBe('TOKEN_EXPIRED');
  expect(refusalOf(await browser.start(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
});

/** A person with an account at an authorization server, and an agent that calls its upstream through the proxy. */
async function startProxied() {
  const upstream = await startAccountsServer();
  const { env, ...rest } = besideUpstream();
  const sandbox = await startSandbox({ ...rest, env: { ...env, ...onThisMachine } });
  await addProvider(sandbox.acme, upstream, { service: 'github' });
  const receiver = await startReceiver();
  const { grantToken } = await grantTo(sandbox.acme, { scopes: ['vault:github:proxy'] });
  const call = () => through(sandbox.service, grantToken, '/repos/a');
  const connect = () => connectAccount(sandbox.service, sandbox.acme, upstream, { service: 'github' });
  return { ...sandbox, upstream, receiver, call, connect };
}

test('a connected account goes through the proxy, and not to an upstream that was named later', async () => {
  const { acme, upstream, receiver, call, connect } = await startProxied();
  await putProfile(acme, `http://127.0.0.1:${receiver.port}`);
  const absent = await call();
  expect([refusalOf(absent), absent.json().details.connectable]).toEqual([
    '404 NOT_FOUND not_connected',
    true,
  ]);

  await connect();
  expect((await call()).statusCode).toBe(204);
  const token = String(receiver.received[0]?.headers.authorization).replace('Bearer ', '');
  expect(await upstream.accessTokenOf(token)).toMatchObject({ accountId: 'ada' });

  const other = await startReceiver();
  await putProfile(acme, `http://127.0.0.1:${other.port}`);
  const refused = await call();
  expect(refusalOf(refused)).toBe('403 PROXY_DENIED origin');
  expect(other.received).toEqual([]);
  await connect();
  expect((await call()).statusCode).toBe(204);
});

test('a token that its upstream refuses twice asks for the person, once', async () => {
  const { acme, advance, upstream, receiver, call, connect } = await startProxied();
  await putProfile(acme, `http://127.0.0.1:${receiver.port}`);
  await connect();
  advance(60);
  receiver.answerStatus(401);

  expect((await call()).statusCode).toBe(401);

  expect(refusalOf(await call())).toBe('409 REAUTHORIZATION_REQUIRED upstream_refused');
  expect(await entriesOf(acme, 'vault.connection.reauthorization_required')).toHaveLength(1);
  expect(upstream.tokenCalls()).toBe(2); // the code, and one refresh
});
