import { inspect } from 'node:util';
import { Behest, BehestAdmin } from '@behest/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAccountsServer } from '../../apps/server/test/app/accounts-server.ts';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { onThisMachine } from '../../apps/server/test/app/proxy.ts';
import { startReceiver } from '../../apps/server/test/app/receiving.ts';
import { APP_BACK, besideProvider, registerAt } from '../../apps/server/test/app/signing-on.ts';
import { ADMIN_API_KEY } from '../../apps/server/test/app/start-app.ts';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ ...besideProvider(onThisMachine), isShared: true });
});
afterAll(async () => {
  service?.app.server.closeAllConnections();
  await service?.stop();
});

/** The client of a new sandbox account, where nobody has to consent. */
async function newClient() {
  const { apiKey, developerId } = await Behest.signup(
    { name: 'Acme', mode: 'sandbox' },
    { baseUrl: service.url },
  );
  const behest = new Behest({ apiKey, baseUrl: service.url, allowSandbox: true, maxRetries: 0 });
  return { behest, developerId };
}

async function newGrant(behest: Behest, scopes: string[]) {
  const agent = await behest.agents.register({ name: 'Reader', scopes });
  const { code = '' } = await behest.authorize({ agentId: agent.id, userId: 'user_42', scopes });
  return { agent, ...(await behest.tokens.exchange({ code, agentId: agent.id })) };
}

describe('a call through the vault', () => {
  /** An upstream with a profile and a credential, and a grant for it. */
  async function beside(behest: Behest) {
    const upstream = await startReceiver();
    await behest.vault.putProxyProfile('github', {
      upstreams: { api: `http://127.0.0.1:${upstream.port}` },
      inject: { style: 'bearer' },
      rules: [{ id: 'all', methods: ['GET', 'POST'], path: '/repos/{rest+}', unmapped: true }],
    });
    await behest.vault.store({
      ...{ principalId: 'user_42', service: 'github', accessToken: 'upstream-access-1' },
    });
    const { grantToken } = await newGrant(behest, ['vault:github:proxy']);
    return { upstream, grantToken };
  }

  test('has the shape of fetch, and the upstream sees the credential and no grant token', async () => {
    const { behest } = await newClient();
    const { upstream, grantToken } = await beside(behest);
    upstream.answer((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"missing":true}');
    });
    const init = { method: 'POST', body: '{"title":"ü"}', headers: { 'content-type': 'application/json' } };

    const answer = await behest.vault.fetch('github', '/repos/acme/site?page=2', init, { grantToken });

    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 404,
      body: { missing: true },
    });
    expect(upstream.received).toMatchObject([
      {
        path: '/repos/acme/site?page=2',
        headers: { authorization: 'Bearer upstream-access-1', 'content-type': 'application/json' },
        body: '{"title":"ü"}',
      },
    ]);
    expect(JSON.stringify(upstream.received)).not.toContain(grantToken);
  });

  test('needs no API key, and an error of the service is no answer of the upstream', async () => {
    const { behest, developerId } = await newClient();
    const { upstream, grantToken } = await beside(behest);
    const keyless = new Behest({ apiKey: null, baseUrl: service.url, developerId });
    const asked = (path: string, token = grantToken) =>
      keyless.vault.fetch('github', path, {}, { grantToken: token });

    expect((await asked('/repos/acme')).status).toBe(204);
    const refused = await asked('/users/acme').catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'BehestAuthError', statusCode: 403 });
    await expect(asked('/repos/acme', 'no token')).rejects.toMatchObject({ statusCode: 401 });
    for (const path of ['/repos/../users', '/repos/%2e%2E/users', '..'])
      await expect(asked(path)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(upstream.received).toHaveLength(1);
  });

  test('never leaves the service, however its path is spelt', async () => {
    const { behest } = await newClient();
    const { upstream, grantToken } = await beside(behest);
    const sent: string[] = [];
    const watched = new Behest({
      ...{ apiKey: null, baseUrl: service.url, developerId: 'dev_any' },
      fetch: (address, init) => {
        sent.push(new URL(address).pathname);
        return fetch(address, init);
      },
    });
    const asked = (path: string) => watched.vault.fetch('github', path, {}, { grantToken });

    expect((await asked('/repos/acme/x?q=%23')).status).toBe(204);
    for (const path of [
      ...['..\\..\\credentials/exchange', 'repos/..\\..\\..\\me', '.\t./.\n./credentials', '\r../x'],
      ...['repos/acme#/../x', 'repos?q=1#x', '\u0000..', '.. ', '.. /x'],
    ])
      await expect(asked(path), path).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(sent).toEqual(['/v1/vault/proxy/github/repos/acme/x']);
    expect(upstream.received).toHaveLength(1);
  });
});

test('a login is begun at the provider of an organisation', async () => {
  const { behest, developerId } = await newClient();
  const provider = await startAccountsServer();
  const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } = await registerAt(provider, service.url);
  await behest.sso.createConnection({
    ...{ name: 'Customer', protocol: 'oidc', issuerUrl: provider.issuer, clientId, clientSecret },
    redirectUris: [APP_BACK],
  });
  const nobody = new Behest({ apiKey: null, baseUrl: service.url, developerId });

  const begun = await nobody.sso.getLoginUrl(developerId);

  const address = new URL(begun.authorizeUrl ?? '');
  expect(address.origin).toBe(new URL(provider.issuer).origin);
  expect(address.searchParams.get('client_id')).toBe(clientId);
  await expect(nobody.sso.getLoginUrl('dev_none')).rejects.toMatchObject({
    name: 'BehestValidationError',
  });
});

test('a suspended agent gets no token, and a reactivated one gets one again', async () => {
  const { behest } = await newClient();
  const { agent, grantToken, refreshToken = '' } = await newGrant(behest, ['calendar:read']);

  expect((await behest.agents.suspend(agent.id)).status).toBe('suspended');
  expect(await behest.tokens.verify(grantToken)).toMatchObject({ valid: false });
  await expect(behest.tokens.refresh({ refreshToken, agentId: agent.id })).rejects.toMatchObject({
    name: 'BehestValidationError',
  });
  expect((await behest.agents.reactivate(agent.id)).status).toBe('active');

  expect(await behest.tokens.verify(grantToken)).toMatchObject({ valid: true });
  const renewed = await behest.tokens.refresh({ refreshToken, agentId: agent.id });
  expect(await behest.tokens.verify(renewed.grantToken)).toMatchObject({ valid: true });
});

test('people and groups of a directory are kept with its SCIM token, and no API key is sent there', async () => {
  const { behest } = await newClient();
  const { token, id } = await behest.scim.createToken({ label: 'Okta' });
  const [users, groups] = [behest.scim.users(token), behest.scim.groups(token)];

  const ada = await users.create({ userName: 'ada@example.com', active: true });
  const group = await groups.create({ displayName: 'Admirals', members: [{ value: ada.id }] });
  await groups.create({ displayName: 'Captains' });

  expect(await groups.get(String(group.id))).toMatchObject({
    displayName: 'Admirals',
    members: [{ value: ada.id }],
  });
  const operations = [{ op: 'replace', path: 'displayName', value: 'Fleet' }];
  await groups.update(String(group.id), { Operations: operations });
  const names: unknown[] = [];
  for await (const row of groups.list({ count: 1 })) names.push(Object(row).displayName);
  expect(names.toSorted()).toEqual(['Captains', 'Fleet']);
  expect(await groups.search({ filter: 'displayName eq "fleet"' })).toMatchObject({ totalResults: 1 });
  await groups.replace(String(group.id), { displayName: 'Navy' });
  expect(await groups.get(String(group.id))).toMatchObject({ displayName: 'Navy', members: [] });
  await groups.delete(String(group.id));
  await expect(groups.get(String(group.id))).rejects.toMatchObject({ name: 'BehestNotFoundError' });
  await expect(behest.scim.listGroups()).rejects.toThrow('SCIM takes no API key');
  await behest.scim.revokeToken(id);
  await expect(users.list()).rejects.toMatchObject({ name: 'BehestAuthError' });
});

test('the operator reads and turns keys with a client of their own, which an account has not', async () => {
  const adminKey = ADMIN_API_KEY;
  const admin = new BehestAdmin({ adminKey, baseUrl: service.url });
  const { behest } = await newClient();
  const { apiKey } = await behest.keys.rotate({ graceSeconds: 300 });

  const { keys } = await admin.signingKeys.list();
  const { entries } = await admin.entries.list();

  expect(keys.length).toBeGreaterThan(0);
  expect(JSON.stringify(keys)).not.toContain('"d"');
  expect(entries).toEqual([]);
  await expect(admin.signingKeys.rotate({})).rejects.toMatchObject({ code: 'KEY_STORE_READ_ONLY' });
  const stranger = new BehestAdmin({ adminKey: apiKey, baseUrl: service.url });
  await expect(stranger.signingKeys.list()).rejects.toMatchObject({ name: 'BehestAuthError' });
  expect(`${inspect(admin, { depth: 9, showHidden: true })}${JSON.stringify(admin)}${admin}`).not.toContain(
    adminKey,
  );
  for (const wrong of ['', ' ', 'a\nb'])
    expect(() => new BehestAdmin({ adminKey: wrong })).toThrow('adminKey has to be');
});

test('a credential is verified by its text alone, and a case gets its version', async () => {
  const { behest } = await newClient();
  const { grantId } = await newGrant(behest, ['calendar:read']);
  const { credential } = await behest.credentials.issue({ grantId, format: 'vc-jwt' });

  expect(await behest.credentials.verify(credential)).toMatchObject({ valid: true });
  expect(await behest.credentials.verify('none')).toMatchObject({ valid: false });
  expect(await behest.decisions.setCaseVersion('refund-1', '2')).toMatchObject({ caseVersion: '2' });
});
