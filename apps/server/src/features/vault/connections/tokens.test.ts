import { describe, expect, test } from 'vitest';
import { type AccountsServer, startAccountsServer } from '../../../../test/app/accounts-server.ts';
import {
  addProvider,
  askToConnect,
  besideUpstream,
  browserOf,
  connectAccount,
} from '../../../../test/app/connecting.ts';
import { entriesOf, grantTo, openSession, refusalOf, startSandbox } from '../../../../test/app/flow.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { seekingSecrets } from '../../../../test/app/seeking-secrets.ts';
import { type Call, startApp, type TestOptions } from '../../../../test/app/start-app.ts';
import { exchange } from '../../../../test/app/vault.ts';
import recorded from '../../../../test/recorded/token-answers.json' with { type: 'json' };
import { createEgress } from '../../../platform/egress/egress.ts';
import { finishDisconnections } from '../credentials/disconnect.ts';
import { openClient } from '../providers/index.ts';
import presets from '../providers/providers.presets.json' with { type: 'json' };

const files = { service: 'files' };
type Instead = AccountsServer['behaviour']['instead'];

/** A sandbox with a connected account, and an agent that may have its token. */
async function connected(options: TestOptions = {}) {
  const upstream = await startAccountsServer();
  const sandbox = await startSandbox({ ...besideUpstream(), ...options });
  const provider = await addProvider(sandbox.acme, upstream);
  const { credentialId } = await connectAccount(sandbox.service, sandbox.acme, upstream);
  const agent = await grantTo(sandbox.acme, { scopes: ['files:read'] });
  return { ...sandbox, upstream, provider, credentialId, ...agent };
}

/** From now on the upstream refuses to refresh. */
function refuseRefresh({ behaviour }: AccountsServer) {
  behaviour.instead = ({ url }, respond) => {
    if (url !== '/token') return false;
    respond(400, { error: 'invalid_grant', error_description: 'words of the upstream' });
    return true;
  };
}

describe('refresh', () => {
  test('is one call at the upstream, though fifty callers at two instances ask', async () => {
    const { acme, service, upstream, advance } = await connected();
    const twin = await startApp({ ...besideUpstream(), databaseUrl: service.databaseUrl });
    advance(3570);
    twin.advance(service.clock().getTime() / 1000 - twin.clock().getTime() / 1000);
    const holders = await Promise.all([1, 2, 3].map(() => grantTo(acme, { scopes: ['files:read'] })));
    const before = upstream.tokenCalls();

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, each) =>
        exchange(each % 2 ? service : twin, String(holders[each % 3]?.grantToken), files),
      ),
    );

    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.json().accessToken)).size).toBe(1);
    expect(upstream.tokenCalls() - before).toBe(1);
  });

  test('V17: under way when the account is disconnected stores nothing, and hands nothing out', async () => {
    const { acme, service, upstream, credentialId, grantToken, advance } = await connected();
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const answerLate: Instead = ({ url }, respond) => {
      if (url !== '/token') return false;
      asked.resolve();
      const body = { access_token: 'a token that comes late', token_type: 'Bearer', expires_in: 3600 };
      void answered.promise.then(() => respond(200, body));
      return true;
    };
    upstream.behaviour.instead = answerLate;
    advance(3570);
    const late = exchange(service, grantToken, files);
    await asked.promise;
    expect((await acme('DELETE', `/v1/vault/credentials/${credentialId}`)).statusCode).toBe(204);
    answered.resolve();

    const answer = await late;

    expect([answer.statusCode, answer.json().details]).toEqual([
      404,
      { reason: 'not_connected', connectable: true },
    ]);
    expect((await acme('GET', '/v1/vault/credentials')).json().total).toBe(0);
    expect(await entriesOf(acme, 'vault.credential.refreshed')).toEqual([]);
  });

  test('refused by the upstream ends the connection until the person connects again, and may be refused again', async () => {
    const { acme, service, upstream, credentialId, grantToken, advance } = await connected();
    const told = async () => (await entriesOf(acme, 'vault.connection.reauthorization_required')).length;
    advance(3600);
    refuseRefresh(upstream);
    expect(refusalOf(await exchange(service, grantToken, files))).toBe(
      '409 REAUTHORIZATION_REQUIRED refresh_refused',
    );
    expect(refusalOf(await exchange(service, grantToken, files))).toBe(
      '409 REAUTHORIZATION_REQUIRED refresh_refused',
    );
    expect(await told()).toBe(1);
    upstream.behaviour.instead = () => false;
    advance(-3600); // the upstream keeps the real time

    const again = await connectAccount(service, acme, upstream);

    expect(again.credentialId).toBe(credentialId);
    const { connection } = (await acme('GET', `/v1/vault/credentials/${credentialId}`)).json();
    expect(connection).toMatchObject({ status: 'connected', reason: null });
    const { accessToken } = (await exchange(service, grantToken, files)).json();
    expect(await upstream.accessTokenOf(accessToken)).toMatchObject({ accountId: 'ada' });
    advance(3600);
    refuseRefresh(upstream);
    await exchange(service, grantToken, files);
    expect(await told()).toBe(2);
  });
});

describe('agents K3: a client that the upstream refuses', () => {
  /** From now on the token endpoint answers so. */
  const answerWith = ({ behaviour }: AccountsServer, status: number, body: object) => {
    behaviour.instead = ({ url }, respond) => {
      if (url !== '/token') return false;
      respond(status, body);
      return true;
    };
  };
  const shownOf = async (developer: Call, id: string) =>
    (await developer('GET', `/v1/vault/providers/${id}`)).json();

  test("in words about one person's token ends that connection alone", async () => {
    const { acme, service, upstream, provider, credentialId, grantToken, advance } = await connected();
    advance(3600);
    const words = { error: 'unauthorized_client', error_description: 'refresh_token is invalid' };
    answerWith(upstream, 403, words);

    const refused = await exchange(service, grantToken, files);

    expect(refusalOf(refused)).toBe('409 REAUTHORIZATION_REQUIRED refresh_refused');
    expect(await shownOf(acme, provider.id)).toMatchObject({ status: 'active', lastError: null });
    const { refreshStatus } = (await acme('GET', `/v1/vault/credentials/${credentialId}`)).json();
    expect(refreshStatus).toBe('failed');
    expect(await entriesOf(acme, 'vault.credential.refresh_failed')).toHaveLength(1);
    expect(await entriesOf(acme, 'vault.provider.failed')).toEqual([]);
  });

  test('at one person leaves the provider open, and at a second closes it', async () => {
    const { acme, service, upstream, provider, grantToken, advance } = await connected();
    await connectAccount(service, acme, upstream, { principalId: 'user_43' });
    const other = await grantTo(acme, { principalId: 'user_43', scopes: ['files:read'] });
    advance(3600);
    answerWith(upstream, 401, { error: 'invalid_client' });

    for (const seconds of [0, 2]) {
      advance(seconds);
      expect(refusalOf(await exchange(service, grantToken, files))).toBe('502 UPSTREAM_ERROR refresh_failed');
      expect(await shownOf(acme, provider.id)).toMatchObject({
        status: 'active',
        lastError: 'invalid_client',
      });
    }
    await exchange(service, other.grantToken, files);

    expect(await shownOf(acme, provider.id)).toMatchObject({ status: 'error', lastError: 'invalid_client' });
    expect((await entriesOf(acme, 'vault.provider.failed')).map(({ metadata }) => metadata.error)).toEqual([
      'invalid_client',
    ]);
  });

  test('and took in between has refused one person only', async () => {
    const { acme, service, upstream, provider, grantToken, advance } = await connected();
    await connectAccount(service, acme, upstream, { principalId: 'user_43' });
    const other = await grantTo(acme, { principalId: 'user_43', scopes: ['files:read'] });
    advance(3600);
    answerWith(upstream, 200, { error: 'incorrect_client_credentials' });
    await exchange(service, grantToken, files);
    advance(2);
    answerWith(upstream, 200, { access_token: 'a', token_type: 'Bearer', expires_in: 3600 });
    expect((await exchange(service, grantToken, files)).statusCode).toBe(200);
    expect(await shownOf(acme, provider.id)).toMatchObject({ status: 'active', lastError: null });

    answerWith(upstream, 200, { ok: false, error: 'bad_client_secret' });
    await exchange(service, other.grantToken, files);

    expect(await shownOf(acme, provider.id)).toMatchObject({ status: 'active', lastError: 'invalid_client' });
  });

  test('on the callback counts as at a refresh', async () => {
    const upstream = await startAccountsServer();
    const { acme, service } = await startSandbox(besideUpstream());
    const provider = await addProvider(acme, upstream);
    answerWith(upstream, 200, { error: 'incorrect_client_credentials' });
    const statusAfter = async (principalId: string) => {
      const session = await askToConnect(acme, { principalId });
      const browser = browserOf(service);
      await browser.open(session);
      await browser.callback(await upstream.visit((await browser.start(session.id)).json().redirectTo));
      return (await shownOf(acme, provider.id)).status;
    };

    expect([await statusAfter('user_42'), await statusAfter('user_42')]).toEqual(['active', 'active']);
    expect(await statusAfter('user_43')).toBe('error');
  });
});

test('low 4: neither verifier, nonce nor state of a connection under way is readable in the store', async () => {
  const upstream = await startAccountsServer();
  const forms: URLSearchParams[] = [];
  upstream.behaviour.instead = (request, respond) => {
    if (request.url !== '/token') return false;
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      forms.push(new URLSearchParams(body));
      respond(400, { error: 'invalid_grant' });
    });
    return true;
  };

  const { kept } = await seekingSecrets(besideUpstream(), async (service) => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    await addProvider(acme, upstream);
    const session = await askToConnect(acme);
    const browser = browserOf(service);
    await browser.open(session);
    const { redirectTo } = (await browser.start(session.id)).json();
    await browser.callback(await upstream.visit(redirectTo));
    const sent = new URL(redirectTo).searchParams;
    const secrets = {
      verifier: forms[0]?.get('code_verifier') ?? undefined,
      nonce: sent.get('nonce') ?? undefined,
      state: sent.get('state') ?? undefined,
    };
    return secrets;
  });

  expect(kept.redis.join()).toContain('bh:{connect:');
});

test("agents K4: Slack's tokens of a user connect, nested at the code and not at the refresh", async () => {
  const receiver = await startReceiver();
  const { acme, service, advance } = await startSandbox(besideUpstream());
  const origin = `http://127.0.0.1:${receiver.port}`;
  const { tokenPointers, scopeSeparator } = presets.slack;
  const provider = {
    ...{ service: 'slack', kind: 'oauth2', clientId: 'c', clientSecret: 's', tokenPointers, scopeSeparator },
    ...{ authorizationEndpoint: `${origin}/authorize`, tokenEndpoint: `${origin}/token` },
    scopes: { required: ['search:read'] },
  };
  expect((await acme('POST', '/v1/vault/providers', provider)).statusCode).toBe(201);
  const answers = [recorded.slack.code.body, recorded.slack.refresh.body];
  receiver.answer((_, response) => void response.end(JSON.stringify(answers.shift())));
  const session = await askToConnect(acme, { service: 'slack' });
  const browser = browserOf(service);
  await browser.open(session);
  const sent = new URL((await browser.start(session.id)).json().redirectTo);
  const back = new URL(String(sent.searchParams.get('redirect_uri')));
  back.search = String(new URLSearchParams({ code: 'c', state: String(sent.searchParams.get('state')) }));
  await browser.callback(back);
  expect((await browser.confirm(session.id)).statusCode).toBe(200);
  const { grantToken } = await grantTo(acme, { scopes: ['slack:read'] });
  const tokenOf = async () => (await exchange(service, grantToken, { service: 'slack' })).json().accessToken;

  expect(await tokenOf()).toBe('xoxe.xoxp-1-synthetic');
  advance(43_200);
  expect(await tokenOf()).toBe('xoxe.xoxp-1-synthetic2');

  expect(new URLSearchParams(receiver.received.at(-1)?.body).get('refresh_token')).toBe('xoxe-1-synthetic');
});

test('V5: no code, token, verifier or client secret is in the log, an entry, an event, an answer or a row', async () => {
  const { acme, app, service, upstream, provider, grantToken, advance, logLines } = await connected({
    logLevel: 'debug',
  });
  const secrets: string[] = [];
  const answers: string[] = [];
  const row = await service.db
    .selectFrom('vaultProviders')
    .selectAll()
    .where('id', '=', provider.id)
    .executeTakeFirstOrThrow();
  secrets.push(String(openClient(service.keyRing.vault, row)?.clientSecret));
  secrets.push((await exchange(service, grantToken, files)).json().accessToken); // the one answer that holds it

  // A start whose code the upstream refuses with words of its own, which are read from the request.
  const forms: URLSearchParams[] = [];
  const keepAndRefuse: Instead = (request, respond) => {
    if (request.url !== '/token') return false;
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      forms.push(new URLSearchParams(body));
      secrets.push(String(request.headers.authorization).split(' ')[1] ?? '');
      respond(400, { error: 'invalid_request', error_description: 'marked-words-of-the-upstream' });
    });
    return true;
  };
  upstream.behaviour.instead = keepAndRefuse;
  const session = await askToConnect(acme, { scopes: ['files:write'] });
  const browser = browserOf(service);
  answers.push((await browser.open(session)).body);
  const back = await upstream.visit((await browser.start(session.id)).json().redirectTo);
  answers.push(JSON.stringify((await browser.callback(back)).headers), (await browser.show(session.id)).body);
  secrets.push(back.searchParams.get('code') ?? '', String(forms[0]?.get('code_verifier')), session.ticket);
  for (const cookie of browser.cookies.values()) secrets.push(cookie);
  advance(3600);
  answers.push((await exchange(service, grantToken, files)).body);
  secrets.push(String(forms[1]?.get('refresh_token')), 'marked-words-of-the-upstream');
  const { sessionToken } = (await openSession(acme)).json();
  const headers = { authorization: `Bearer ${sessionToken}` };
  answers.push((await app.inject({ url: '/v1/principal/connections', headers })).body);
  for (const path of ['vault/providers', 'vault/credentials', 'audit/entries?limit=500', 'events'])
    answers.push((await acme('GET', `/v1/${path}`)).body);

  for (const table of ['vaultProviders', 'vaultCredentials', 'connectSessions', 'outboxEvents'] as const)
    answers.push(JSON.stringify(await service.db.selectFrom(table).selectAll().execute()));
  expect(forms.map((form) => form.get('grant_type'))).toEqual(['authorization_code', 'refresh_token']);
  expect(secrets.filter((secret) => secret.length < 16)).toEqual([]);
  const log = logLines.join('');
  expect(log).toContain('/v1/vault/credentials/exchange');
  const leaked = secrets.map((secret) => [
    answers.findIndex((text) => text.includes(secret)),
    log.includes(secret),
  ]);
  expect(leaked).toEqual(secrets.map(() => [-1, false]));
});

test('V1: the secret of a provider opens in its own row alone', async () => {
  const { acme, service, upstream } = await connected();
  const other = await service.asDeveloper({ mode: 'sandbox' });
  const own = await addProvider(acme, upstream, { service: 'photos' });
  const foreign = await addProvider(other, upstream);
  const rows = service.db.selectFrom('vaultProviders').selectAll();
  const rowOf = (id: string) => rows.where('id', '=', id).executeTakeFirstOrThrow();
  const [first, second, third] = [await rowOf(own.id), await rowOf(foreign.id), await rowOf(own.id)];
  const { vault } = service.keyRing;
  const sealed = ({ dataKey, clientSecret }: typeof first) => ({ dataKey, clientSecret });
  const found = (tokenEndpoint: string) => ({ found: { ...Object(first.found), tokenEndpoint } });

  expect(openClient(vault, first)?.clientSecret).toMatch(/.{20}/);
  expect(openClient(vault, { ...second, ...sealed(first) })).toBeUndefined(); // it belongs to another developer
  expect(openClient(vault, { ...first, ...sealed(second) })).toBeUndefined();
  expect(openClient(vault, { ...third, ...found('https://evil.example/token') })).toBeUndefined();
  expect(openClient(vault, { ...third, clientSecret: null, privateKey: third.clientSecret })).toBeUndefined();
  expect(openClient(vault, { ...third, ...found(`${upstream.issuer}/another`) })).toBeDefined(); // the control

  // By way of the service: nothing reaches the upstream with a secret that was moved.
  const moved = await service.db
    .updateTable('vaultProviders')
    .set(sealed(first))
    .where('id', '=', second.id)
    .executeTakeFirst();
  expect(moved.numUpdatedRows).toBe(1n);
  const session = await askToConnect(other);
  const browser = browserOf(service);
  await browser.open(session);
  const before = upstream.tokenCalls();
  await browser.callback(await upstream.visit((await browser.start(session.id)).json().redirectTo));
  expect(upstream.tokenCalls()).toBe(before);
  expect((await other('GET', '/v1/vault/credentials')).json().total).toBe(0);
});

test('V17: an account that is being disconnected ends once, and a second request finds none', async () => {
  const { acme, service, upstream, credentialId } = await connected();
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { behaviour }: AccountsServer = upstream;
  behaviour.instead = ({ url }, respond) => {
    if (url !== '/token/revocation') return false;
    asked.resolve();
    void answered.promise.then(() => respond(200, {}));
    return true;
  };
  const disconnect = async () => (await acme('DELETE', `/v1/vault/credentials/${credentialId}`)).statusCode;
  const left = () =>
    service.db
      .selectFrom('vaultCredentials')
      .select('id')
      .where('developerId', '=', acme.developerId)
      .execute();
  const first = disconnect();
  await asked.promise;

  const second = await disconnect();
  const meanwhile = await left();
  answered.resolve();

  expect([second, await first]).toEqual([404, 204]);
  expect([meanwhile, await left()]).toEqual([[{ id: credentialId }], []]);
  expect(await entriesOf(acme, 'vault.credential.deleted')).toHaveLength(1);
  expect(await entriesOf(acme, 'vault.connection.disconnected')).toHaveLength(1);
});

test('V17: the end of an account takes its connections out of use, and revokes them at the upstream', async () => {
  const { acme, service, upstream, grantToken, advance } = await connected();
  const { accessToken } = (await exchange(service, grantToken, files)).json();
  const rows = () =>
    service.db
      .selectFrom('vaultCredentials')
      .select('disconnectingAt')
      .where('developerId', '=', acme.developerId)
      .execute();
  const egress = createEgress({ allowsHttp: true, allowsPrivateHosts: true });
  const vault = service.keyRing.vault;
  const onUnrevoked = () => expect.unreachable();
  const deps = { ...service, vault, upstream: egress, connected: egress, onUnrevoked, onDisconnected: [] };
  const sweep = () => finishDisconnections(deps, AbortSignal.timeout(10_000));

  expect((await acme('POST', '/v1/me/close', { confirm: acme.developerId })).statusCode).toBe(202);

  expect(await rows()).toEqual([{ disconnectingAt: service.clock() }]);
  advance(29);
  await sweep();
  expect(await upstream.accessTokenOf(accessToken)).toBeDefined();
  advance(1);
  await sweep();
  expect(await rows()).toEqual([]);
  expect(await upstream.accessTokenOf(accessToken)).toBeUndefined();
  const told = await service.db
    .selectFrom('auditEntries')
    .select(['action', 'metadata'])
    .where('developerId', '=', acme.developerId)
    .where('action', 'in', ['vault.credential.deleted', 'vault.connection.disconnected'])
    .orderBy('seq')
    .execute();
  expect(told).toMatchObject([
    { action: 'vault.credential.deleted', metadata: { reason: 'developer_deleted' } },
    { action: 'vault.connection.disconnected', metadata: { upstream: 'revoked' } },
  ]);
});
