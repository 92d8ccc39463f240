import { describe, expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import {
  addProvider,
  askToConnect,
  besideUpstream,
  browserOf,
  connectAccount,
} from '../../../../test/app/connecting.ts';
import {
  actionsOf,
  entriesOf,
  grantTo,
  openSession,
  refusalOf,
  startSandbox,
} from '../../../../test/app/flow.ts';
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
