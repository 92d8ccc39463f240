import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { actionsOf, partsOf } from '../../../../test/app/flow.ts';
import { DEVICE_GRANT, pkceLink } from '../../../../test/app/oauth.ts';
import { linkParts, personOn } from '../../../../test/app/person.ts';
import {
  besideClients,
  followLink,
  LISTENING,
  newServer,
  publishClient,
  sendForm,
  tokensOf,
} from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ env: besideClients, isShared: true });
});
afterAll(() => service.stop());

async function acmeServer(members?: object) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  return { acme, ...(await newServer(acme, members)) };
}

describe('a client with a document, and no registration', () => {
  test('gets tokens, refreshes and revokes them, and becomes an agent of the developer', async () => {
    const { acme, resource } = await acmeServer({ tokenTtlSeconds: 600, scopes: ['calendar:read'] });
    const { clientId } = await publishClient();

    const tokens = await tokensOf(service, clientId, resource);

    expect(tokens.statusCode).toBe(200);
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = tokens.json();
    expect(seconds).toBe(600);
    const { agents } = (await acme('GET', '/v1/agents')).json();
    expect(agents).toMatchObject([
      { name: 'Example Editor', origin: 'cimd', clientId, scopes: ['calendar:read'], status: 'active' },
    ]);
    expect(partsOf(accessToken).payload).toMatchObject({ aud: resource, client_id: agents[0].agentId });
    expect(await actionsOf(acme)).toEqual([
      'developer.created',
      'resource.created',
      'authorization.requested',
      'authorization.approved',
      'agent.created',
      'grant.created',
      'token.issued',
    ]);
    const refresh = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken };
    const next = (await sendForm(service, 'token', refresh)).json();
    expect(next.refresh_token).toMatch(/^ref_\w+[\w-]+\.dev_\w+$/);
    await sendForm(service, 'revoke', { client_id: clientId, token: next.refresh_token });
    const verified = await acme('POST', '/v1/tokens/verify', { token: next.access_token });
    expect(verified.json().valid).toBe(false);
  });

  test('gets a token for two resources that lives as long as the shorter one allows', async () => {
    const { acme, resource } = await acmeServer({ tokenTtlSeconds: 86_400 });
    const short = await newServer(acme, { tokenTtlSeconds: 60 });
    const { clientId } = await publishClient();
    const { link, verifier } = await pkceLink(clientId, { redirect_uri: LISTENING });
    const secondsOf = async (...resources: string[]) => {
      const { pathname, searchParams } = new URL(link);
      for (const each of resources) searchParams.append('resource', each);
      const { headers } = await service.app.inject(`${pathname}?${searchParams}`);
      const tokens = await sendForm(service, 'token', {
        ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: LISTENING },
        code: new URL(String(headers.location)).searchParams.get('code') ?? '',
        code_verifier: verifier,
      });
      return tokens.json().expires_in;
    };

    expect(await secondsOf(resource, short.resource)).toBe(60);
    expect(await secondsOf(resource)).toBe(86_400);
  });

  test('is the same agent at its next request, and another one at another developer', async () => {
    const [acme, other] = [await acmeServer(), await acmeServer()];
    const { clientId } = await publishClient();
    for (const { resource } of [acme, acme, other]) await tokensOf(service, clientId, resource);

    const ids = [acme, other].map(async (each) => (await each.acme('GET', '/v1/agents')).json().agents);
    const [own, others] = await Promise.all(ids);

    expect([own.length, others.length]).toEqual([1, 1]);
    expect(own[0].agentId).not.toBe(others[0].agentId);
  });

  test('is an agent from its first approval on, and not before: it takes no place of the plan', async () => {
    const { acme, resource } = await acmeServer();
    const { clientId } = await publishClient();
    const { back } = await followLink(service, clientId, { resource, prompt: 'consent' });
    const { id } = linkParts(back?.href ?? '');
    const { agentId } = (await acme('GET', `/v1/authorize/${id}`)).json();
    const person = personOn(service);

    expect((await acme('GET', '/v1/agents')).json().agents).toEqual([]);
    expect((await acme('GET', `/v1/agents/${agentId}`)).statusCode).toBe(404);
    expect((await acme('PATCH', `/v1/agents/${agentId}`, { status: 'active' })).statusCode).toBe(404);
    expect((await acme('DELETE', `/v1/agents/${agentId}`)).statusCode).toBe(404);
    const native = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    expect((await acme('POST', '/v1/authorize', native)).statusCode).toBe(409);
    const { request } = (await person.open(back?.href ?? '')).json();
    expect(request).toMatchObject({
      agentName: 'Example Editor',
      redirectHost: '127.0.0.1:49152',
      client: {
        name: 'Example Editor',
        vouchedBy: 'host',
        host: new URL(clientId).host,
        isLocal: false,
        resourceNames: ['Calendar server'],
      },
    });
    expect((await person.approve(id)).statusCode).toBe(200);
    expect((await acme('GET', `/v1/agents/${agentId}`)).json()).toMatchObject({ status: 'active' });
  });

  test('is not approved where the plan has no room for its agent', async () => {
    const full = await startApp({ env: { ...besideClients, PLAN_FREE_AGENTS: '1' } });
    const acme = await full.asDeveloper({ mode: 'sandbox' });
    const { resource } = await newServer(acme);
    const [first, second] = [await publishClient(), await publishClient()];

    expect((await tokensOf(full, first.clientId, resource)).statusCode).toBe(200);
    const { back } = await followLink(full, second.clientId, { resource });
    expect(back?.searchParams.get('error')).toBe('access_denied');
    expect(back?.searchParams.get('error_description')).toMatch(/^PLAN_LIMIT_EXCEEDED/);
    expect((await acme('GET', '/v1/agents')).json().agents).toHaveLength(1);
  });

  test('is stopped at once where the developer suspends its agent, and only there', async () => {
    const [acme, other] = [await acmeServer(), await acmeServer()];
    const { clientId } = await publishClient();
    const { refresh_token: refreshToken } = (await tokensOf(service, clientId, acme.resource)).json();
    const [agent] = (await acme.acme('GET', '/v1/agents')).json().agents;
    await acme.acme('PATCH', `/v1/agents/${agent.agentId}`, { status: 'suspended' });

    const { back } = await followLink(service, clientId, { resource: acme.resource });
    expect(back?.searchParams.get('error')).toBe('unauthorized_client');
    const refresh = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken };
    expect((await sendForm(service, 'token', refresh)).json().error).toBe('invalid_grant');
    expect((await tokensOf(service, clientId, other.resource)).statusCode).toBe(200);
  });

  test('gets a refresh token only if it lists that grant type or asks for offline access', async () => {
    const { resource } = await acmeServer();
    const { clientId } = await publishClient({ grant_types: undefined });

    const without = (await tokensOf(service, clientId, resource)).json();
    const scope = 'calendar:read offline_access';
    const asked = (await tokensOf(service, clientId, resource, { scope })).json();

    expect([without.refresh_token, without.scope]).toEqual([undefined, 'calendar:read']);
    expect([typeof asked.refresh_token, asked.scope]).toEqual(['string', 'calendar:read']);
  });

  test('names a resource, because that says whose service it is for', async () => {
    const { resource } = await acmeServer();
    const { clientId } = await publishClient();
    const errorOf = async (parameters: Record<string, string>) =>
      (await followLink(service, clientId, parameters)).back?.searchParams.get('error') ?? null;

    expect(await errorOf({})).toBe('invalid_target');
    expect(await errorOf({ resource: `${resource}/` })).toBe('invalid_target');
    expect(await errorOf({ resource })).toBeNull();
  });

  test('uses the code of one developer nowhere else, and the code of another client not at all', async () => {
    const [acme, other] = [await acmeServer(), await acmeServer()];
    const [one, two] = [await publishClient(), await publishClient()];
    await tokensOf(service, one.clientId, other.resource);
    const { back, verifier } = await followLink(service, one.clientId, { resource: acme.resource });
    const form = {
      grant_type: 'authorization_code',
      code: back?.searchParams.get('code') ?? '',
      redirect_uri: LISTENING,
      code_verifier: verifier,
    };
    const exchange = async (clientId: string, more: Record<string, string> = {}) =>
      (await sendForm(service, 'token', { ...form, client_id: clientId, ...more })).json();

    expect((await exchange(two.clientId)).error).toBe('invalid_grant');
    expect((await exchange(one.clientId, { resource: other.resource })).error).toBe('invalid_target');
    expect(await exchange(one.clientId)).toHaveProperty('access_token');
  });
});

describe('a client with a key in its document', () => {
  test.each(['jwks', 'jwks_uri'])('authenticates itself by it: %s', async (member) => {
    const { resource } = await acmeServer();
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const stranger = await generateKeyPair('ES256');
    const jwks = { keys: [await exportJWK(publicKey)] };
    const keys = await publishClient();
    keys.answerWith({ body: JSON.stringify(jwks) });
    const { clientId } = await publishClient({
      token_endpoint_auth_method: 'private_key_jwt',
      ...(member === 'jwks' ? { jwks } : { jwks_uri: keys.clientId }),
    });
    const { back, verifier } = await followLink(service, clientId, { resource });
    const assertion = (key = privateKey) =>
      new SignJWT({ iss: clientId, sub: clientId, aud: 'https://auth.test' })
        .setProtectedHeader({ alg: 'ES256' })
        .setJti(crypto.randomUUID())
        .setExpirationTime(Math.floor(service.clock().getTime() / 1000) + 60)
        .sign(key);
    const exchange = (more: Record<string, string>) =>
      sendForm(service, 'token', {
        grant_type: 'authorization_code',
        code: back?.searchParams.get('code') ?? '',
        redirect_uri: LISTENING,
        code_verifier: verifier,
        client_id: clientId,
        ...more,
      });
    const by = async (key?: typeof privateKey) => ({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await assertion(key),
    });

    expect((await exchange({})).json().error).toBe('invalid_client');
    expect((await exchange(await by(stranger.privateKey))).json().error).toBe('invalid_client');
    expect((await exchange(await by())).statusCode).toBe(200);
  });
});

test('the keys at the address of a client are read again after five minutes, whatever their host says', async () => {
  const { resource } = await acmeServer();
  const [old, now] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
  const keys = await publishClient();
  const publish = async ({ publicKey }: typeof old) =>
    keys.answerWith({
      headers: { 'cache-control': 'max-age=86400' },
      body: JSON.stringify({ keys: [await exportJWK(publicKey)] }),
    });
  await publish(old);
  const { clientId } = await publishClient({
    ...{ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: keys.clientId },
  });
  const errorBy = async ({ privateKey }: typeof old) => {
    const assertion = await new SignJWT({ iss: clientId, sub: clientId, aud: 'https://auth.test' })
      .setProtectedHeader({ alg: 'ES256' })
      .setJti(crypto.randomUUID())
      .setExpirationTime(Math.floor(service.clock().getTime() / 1000) + 60)
      .sign(privateKey);
    const answer = await sendForm(service, 'token', {
      ...{ grant_type: 'refresh_token', refresh_token: 'x', client_id: clientId, resource },
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    });
    return answer.json().error;
  };

  expect(await errorBy(old)).toBe('invalid_grant'); // the client is proved
  await publish(now); // the client has taken the old key back
  service.advance(299.999);
  expect([await errorBy(old), keys.fetches()]).toEqual(['invalid_grant', 1]);
  service.advance(0.001);
  expect(await errorBy(old)).toBe('invalid_client');
  expect([await errorBy(now), keys.fetches()]).toEqual(['invalid_grant', 2]);
});

const hour = (time: number) => new Date(Date.UTC(2026, 0, 1, time)).toUTCString();

describe('O17: a document that cannot be used', () => {
  test.each<[string, Parameters<Awaited<ReturnType<typeof publishClient>>['answerWith']>[0]]>([
    ['a redirect', { status: 302, headers: { location: '/other.json' } }],
    ['an error', { status: 500 }],
    ['another type', { headers: { 'content-type': 'text/html' } }],
    ['no JSON', { body: '{' }],
    ['a repeated member', { body: '{"client_id":"a","client_id":"b"}' }],
    ['the `client_id` of another', { body: JSON.stringify({ client_id: 'https://other.test/client.json' }) }],
  ])('shows a page, and redirects nobody: %s', async (_name, answer) => {
    const { resource } = await acmeServer();
    const client = await publishClient();
    client.answerWith(answer);

    const refused = await followLink(service, client.clientId, { resource });
    expect([refused.answer.statusCode, refused.back]).toEqual([400, undefined]);
    const form = { client_id: client.clientId, redirect_uri: LISTENING, resource };
    for (const path of ['par', 'token']) {
      const answered = await sendForm(service, path, {
        ...form,
        grant_type: 'refresh_token',
        refresh_token: 'x',
      });
      expect([answered.statusCode, answered.json().error]).toEqual([401, 'invalid_client']);
    }
    // The same client with its document is served, once the failure is forgotten.
    client.answerWith({ headers: { 'content-type': 'application/oauth+json; charset=utf-8' } });
    service.advance(60);
    expect(
      (await followLink(service, client.clientId, { resource })).back?.searchParams.get('code'),
    ).toBeTruthy();
  });

  test('has more than 5,120 bytes, and one of just as many is read', async () => {
    const { resource } = await acmeServer();
    const statusOf = async (bytes: number) => {
      const client = await publishClient();
      const document = JSON.stringify({ ...client.document, padding: '' });
      client.answerWith({ body: document.replace(/""}$/, `"${'x'.repeat(bytes - document.length)}"}`) });
      return (await followLink(service, client.clientId, { resource })).answer.statusCode;
    };

    expect([await statusOf(5120), await statusOf(5121)]).toEqual([303, 400]);
  });

  test('is not asked for again within a minute, and after it', async () => {
    const { resource } = await acmeServer();
    const client = await publishClient();
    client.answerWith({ status: 404 });
    const ask = () => followLink(service, client.clientId, { resource });

    await ask();
    await ask();
    service.advance(59.999);
    await ask();
    expect(client.fetches()).toBe(1);
    service.advance(0.001);
    await ask();
    expect(client.fetches()).toBe(2);
  });

  test.each<[string, Record<string, string>, number]>([
    ['max-age=1', { 'cache-control': 'max-age=1' }, 300],
    ['no-store', { 'cache-control': 'no-store, max-age=3600' }, 300],
    ['max-age=3600', { 'cache-control': 'max-age=3600' }, 3600],
    ['max-age=999999', { 'cache-control': 'public, max-age=999999' }, 86_400],
    ['max-age=3600, of which caches have kept it 600', { 'cache-control': 'max-age=3600', age: '600' }, 3000],
    ['an Age of no number', { 'cache-control': 'max-age=3600', age: '-600' }, 3600],
    ['Expires an hour after Date', { date: hour(9), expires: hour(10) }, 3600],
    ['Expires, and an Age', { date: hour(9), expires: hour(10), age: '60' }, 3540],
    ['Expires beside max-age', { date: hour(9), expires: hour(10), 'cache-control': 'max-age=400' }, 400],
    ['Expires that is no date', { date: hour(9), expires: '0' }, 300],
  ])('RFC 9111 §4.2: and one that can is kept, by %s', async (_, headers, seconds) => {
    const { resource } = await acmeServer();
    const client = await publishClient();
    client.answerWith({ headers });
    const ask = () => followLink(service, client.clientId, { resource });

    await ask();
    service.advance(seconds - 0.001);
    await ask();
    expect(client.fetches()).toBe(1);
    service.advance(0.001);
    await ask();
    expect(client.fetches()).toBe(2);
  });
});

describe('a public client with a document, on a device without a browser', () => {
  /** A television that has asked for a code, and its person in front of a browser. */
  async function television(members: object = {}) {
    const own = { ...(await acmeServer()) };
    const client = await publishClient({
      ...{ client_name: 'Television', grant_types: ['authorization_code', DEVICE_GRANT], ...members },
    });
    const { clientId } = client;
    const ask = (form: Record<string, string> = {}) =>
      sendForm(service, 'device_authorization', {
        ...{ client_id: clientId, scope: 'calendar:read', resource: own.resource, ...form },
      });
    const { user_code: userCode, device_code: deviceCode } = (await ask()).json();
    const person = personOn(service);
    const enter = () => person.call('POST', '/v1/device', { body: { userCode } });
    const poll = (form: Record<string, string> = {}) =>
      sendForm(service, 'token', {
        ...{ grant_type: DEVICE_GRANT, client_id: clientId, device_code: deviceCode, ...form },
      });
    return { ...own, ...client, ask, person, enter, poll };
  }

  test('is shown as one for which no host answers: anybody can send its address', async () => {
    const { person, enter, poll } = await television();

    const { redirectTo } = (await enter()).json();
    await person.open(redirectTo);
    const { id } = linkParts(redirectTo);
    const { client } = (await person.see(id)).json();
    await person.approve(id);

    expect(client).toMatchObject({ name: 'Television', vouchedBy: 'nobody', isLocal: false });
    expect((await poll()).json()).toMatchObject({ scope: 'calendar:read' });
  });

  test('waits on while its document cannot be fetched, and its right code is no guess', async () => {
    const { enter, poll, answerWith } = await television({
      redirect_uris: undefined,
      grant_types: [DEVICE_GRANT],
    });
    service.advance(301); // the document has to be fetched again
    answerWith({ status: 503 });

    for (let attempt = 0; attempt < 6; attempt += 1) expect((await enter()).statusCode).toBe(404);
    service.advance(61); // the failure is forgotten
    answerWith({});

    expect((await enter()).statusCode).toBe(200);
    expect((await poll()).json().error).toBe('authorization_pending');
  });

  test('learns that its resource is gone, once its person enters the code', async () => {
    const { acme, id, enter, poll } = await television();
    await acme('DELETE', `/v1/resources/${id}`);

    expect((await enter()).statusCode).toBe(409);
    expect((await poll()).json()).toMatchObject({ error: 'invalid_target' });
  });

  test('asks and polls at the developer of its resource, whatever else its form names', async () => {
    const { clientId, ask, poll } = await television();
    const other = await acmeServer();
    const { back } = await followLink(service, clientId, { resource: other.resource });
    const code = back?.searchParams.get('code') ?? '';
    expect(code).not.toBe(''); // a code of this client, at another developer

    const asked = await ask({ code });
    const polled = await poll({ code });
    service.advance(5);

    expect([asked.statusCode, polled.json().error]).toEqual([200, 'invalid_grant']);
    expect((await poll()).json().error).toBe('authorization_pending');
  });
});

describe('by default', () => {
  test('O17: no document is fetched over `http`, or from this machine or a private network', async () => {
    const careful = await startApp();
    const acme = await careful.asDeveloper({ mode: 'sandbox' });
    const { resource } = await newServer(acme);
    const client = await publishClient();
    const { port } = client.receiver;

    for (const clientId of [
      client.clientId,
      `https://127.0.0.1:${port}/client.json`,
      `https://localhost:${port}/client.json`,
      `https://[::1]:${port}/client.json`,
      'https://10.0.0.1/client.json',
      'https://169.254.169.254/latest/meta-data',
      'https://metadata.google.internal/client.json',
    ]) {
      const refused = await followLink(careful, clientId, { resource });
      expect([clientId, refused.answer.statusCode, refused.back]).toEqual([clientId, 400, undefined]);
    }
    expect(client.fetches()).toBe(0);
  });

  test('the operator names the hosts that may publish clients', async () => {
    const client = await publishClient();
    const other = await publishClient();
    const host = new URL(client.clientId).host;
    const strict = await startApp({ env: { ...besideClients, OAUTH_CIMD_ALLOWED_HOSTS: host } });
    const { resource } = await newServer(await strict.asDeveloper({ mode: 'sandbox' }));

    expect((await followLink(strict, other.clientId, { resource })).answer.statusCode).toBe(400);
    expect(other.fetches()).toBe(0);
    expect((await followLink(strict, client.clientId, { resource })).answer.statusCode).toBe(303);
  });

  test('a stranger does not have the service fetch as often as they like', async () => {
    const env = { ...besideClients, RATE_LIMIT_OAUTH_CLIENT_FETCH: '2' };
    const limited = await startApp({ env, store: 'memory' });
    const client = await publishClient();
    const ask = async (name: string) =>
      (await followLink(limited, client.clientId.replace('client.json', name), {})).answer.statusCode;

    expect([await ask('1'), await ask('2'), await ask('3')]).toEqual([400, 400, 429]);
    expect(client.fetches()).toBe(2);
  });
});

test('a client that names no scope asks for those of the resource, as older clients of MCP do', async () => {
  const { resource } = await acmeServer({ scopes: ['calendar:read', 'mail:read'] });
  const open = await acmeServer();
  const { clientId } = await publishClient();
  const errorAt = async (at: string, scope: string) =>
    (await followLink(service, clientId, { resource: at, scope })).back?.searchParams.get('error') ?? null;

  const tokens = (await tokensOf(service, clientId, resource, { scope: 'offline_access' })).json();

  expect(tokens.scope).toBe('calendar:read mail:read');
  expect([await errorAt(resource, ''), await errorAt(open.resource, '')]).toEqual([null, 'invalid_scope']);
});
