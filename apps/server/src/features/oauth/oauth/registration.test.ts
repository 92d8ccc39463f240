import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CIBA_GRANT, DEVICE_GRANT, newClient, pkceLink } from '../../../../test/app/oauth.ts';
import { linkParts, personOn } from '../../../../test/app/person.ts';
import { followLink, LISTENING, newServer, sendForm, tokensOf } from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { expiryOfClients } from './oauth.feature.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

const metadata = { redirect_uris: ['http://127.0.0.1/callback'], client_name: 'Old Editor' };

const register = (body: object, on = service) =>
  on.app.inject({ method: 'POST', url: '/oauth/register', payload: body });

async function acmeServer() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  return { acme, ...(await newServer(acme)) };
}

describe('a client that registers itself', () => {
  test('is told its id, and gets tokens after an approval', async () => {
    const { acme, resource } = await acmeServer();

    const registered = await register(metadata);

    expect(registered.statusCode).toBe(201);
    expect(registered.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    const { client_id: clientId, ...told } = registered.json();
    expect(clientId).toMatch(/^dcr_[0-9A-Z]{26}$/);
    expect(told).toEqual({
      ...metadata,
      client_id_issued_at: service.clock().getTime() / 1000,
      registration_access_token: expect.stringMatching(/^[\w-]{43}$/),
      registration_client_uri: `https://auth.test/oauth/register/${clientId}`,
      application_type: 'native',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    expect((await tokensOf(service, clientId, resource)).statusCode).toBe(200);
    expect((await acme('GET', '/v1/agents')).json().agents).toMatchObject([
      { name: 'Old Editor', origin: 'dcr', clientId },
    ]);
  });

  test.each([
    ['only the grant type of a code', { grant_types: ['authorization_code'] }, undefined],
    ['refreshing too', { grant_types: ['authorization_code', 'refresh_token'] }, 'string'],
    ['the type of a native application', { application_type: 'native' }, undefined],
    ['members that nobody knows here', { software_id: 'x', contacts: ['a@b.test'] }, undefined],
  ])('may ask for %s', async (_name, more, refreshes) => {
    const { resource } = await acmeServer();
    const { client_id: clientId } = (await register({ ...metadata, ...more })).json();

    const tokens = await tokensOf(service, clientId, resource);

    expect([tokens.statusCode, typeof tokens.json().refresh_token]).toEqual([200, refreshes ?? 'undefined']);
  });

  test('has a secret if it asks for one, and needs it then', async () => {
    const { resource } = await acmeServer();
    const body = { ...metadata, token_endpoint_auth_method: 'client_secret_post' };
    const { client_id: clientId, client_secret: secret, ...told } = (await register(body)).json();
    const { back, verifier } = await followLink(service, clientId, { resource });
    const form = {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: back?.searchParams.get('code') ?? '',
      redirect_uri: LISTENING,
      code_verifier: verifier,
    };

    expect(secret).toMatch(/^bhs_[\w-]{43}$/);
    expect(told.client_secret_expires_at).toBe(0);
    expect((await sendForm(service, 'token', form)).json().error).toBe('invalid_client');
    const wrong = await sendForm(service, 'token', { ...form, client_secret: `${secret}x` });
    expect(wrong.json().error).toBe('invalid_client');
    expect((await sendForm(service, 'token', { ...form, client_secret: secret })).statusCode).toBe(200);
  });

  test.each([
    ['invalid_redirect_uri', 'no address', { redirect_uris: undefined }],
    ['invalid_redirect_uri', 'an empty list', { redirect_uris: [] }],
    ['invalid_redirect_uri', 'eleven addresses', { redirect_uris: Array(11).fill('https://a.test/cb') }],
    ['invalid_redirect_uri', 'a script', { redirect_uris: ['javascript:alert(1)'] }],
    ['invalid_redirect_uri', 'one bad address', { redirect_uris: ['https://a.test/cb', 'http://a.test/cb'] }],
    ['invalid_client_metadata', 'a long name', { client_name: 'x'.repeat(256) }],
    ['invalid_client_metadata', 'a name in two lines', { client_name: 'a\nb' }],
    ['invalid_client_metadata', 'an unknown method', { token_endpoint_auth_method: 'tls_client_auth' }],
    [
      'invalid_client_metadata',
      'a key method without keys',
      { token_endpoint_auth_method: 'private_key_jwt' },
    ],
    [
      'invalid_client_metadata',
      'keys at no address',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https:' },
    ],
    ['invalid_client_metadata', 'other grant types only', { grant_types: ['password'] }],
    ['invalid_client_metadata', 'another response type', { response_types: ['token'] }],
    ['invalid_client_metadata', 'an unknown type of application', { application_type: 'service' }],
    ['invalid_client_metadata', 'a page that is a script', { client_uri: 'javascript:alert(1)' }],
    ['invalid_client_metadata', 'a logo that is no text', { logo_uri: 7 }],
  ])('is refused by %s for %s', async (error, _name, changes) => {
    const answer = await register({ ...metadata, ...changes });

    expect([answer.statusCode, answer.json().error]).toEqual([400, error]);
    expect((await register(metadata)).statusCode).toBe(201);
  });

  test('is named as not verified where a person is asked', async () => {
    const { resource } = await acmeServer();
    const { client_id: clientId } = (await register(metadata)).json();
    const { back } = await followLink(service, clientId, { resource, prompt: 'consent' });
    const person = personOn(service);

    const { request } = (await person.open(back?.href ?? '')).json();

    expect(request.client).toMatchObject({
      name: 'Old Editor',
      vouchedBy: 'nobody',
      host: null,
      isLocal: true,
    });
    expect((await person.approve(linkParts(back?.href ?? '').id)).statusCode).toBe(200);
  });
});

describe('a registration', () => {
  async function registered() {
    const answer = (
      await register({ ...metadata, token_endpoint_auth_method: 'client_secret_basic' })
    ).json();
    const path = `/oauth/register/${answer.client_id}`;
    const manage = (
      method: 'GET' | 'PUT' | 'DELETE',
      body?: object,
      token = answer.registration_access_token,
    ) =>
      service.app.inject({
        method,
        url: path,
        headers: { authorization: `Bearer ${token}` },
        ...(body && { payload: body }),
      });
    return { answer, manage };
  }

  test('is read, replaced and removed by its token alone', async () => {
    const { answer, manage } = await registered();
    const other = (await registered()).answer.registration_access_token;

    for (const token of [other, '', 'x']) {
      expect((await manage('GET', undefined, token)).statusCode).toBe(401);
      expect((await manage('PUT', { ...metadata, client_id: answer.client_id }, token)).statusCode).toBe(401);
      expect((await manage('DELETE', undefined, token)).statusCode).toBe(401);
    }
    const { client_secret: _, client_secret_expires_at: __, ...shown } = answer;
    expect((await manage('GET')).json()).toEqual(shown);
    const { client_id } = answer;
    const replaced = await manage('PUT', { ...metadata, client_id, client_name: 'Newer Editor' });
    expect(replaced.json()).toMatchObject({
      client_name: 'Newer Editor',
      token_endpoint_auth_method: 'none',
      registration_access_token: answer.registration_access_token,
      registration_client_uri: answer.registration_client_uri,
    });
    expect((await manage('DELETE')).statusCode).toBe(204);
    expect((await manage('GET')).statusCode).toBe(401);
    expect((await followLink(service, answer.client_id, {})).answer.statusCode).toBe(400);
  });

  test('RFC 7592 §2.2: is replaced by a request that names this client and its own secret, and by no other', async () => {
    const { answer, manage } = await registered();
    const other = (await registered()).answer;
    const { client_id, client_secret } = answer;
    const secretly = { ...metadata, token_endpoint_auth_method: 'client_secret_basic' };
    const renamed = { ...secretly, client_name: 'Other Editor' };

    for (const wrong of [
      { ...renamed },
      { ...renamed, client_id: other.client_id },
      { ...renamed, client_id: [client_id] },
      { ...renamed, client_id, client_secret: other.client_secret },
      { ...renamed, client_id, client_secret: 'x' },
    ]) {
      const refused = await manage('PUT', wrong);
      expect([refused.statusCode, refused.json().error]).toEqual([400, 'invalid_client_metadata']);
    }
    expect((await manage('GET')).json().client_name).not.toBe('Other Editor');
    const same = await manage('PUT', { ...renamed, client_id, client_secret });
    expect([same.statusCode, same.json().client_name]).toEqual([200, 'Other Editor']);
    const open = await manage('PUT', { ...metadata, client_id });
    expect(open.statusCode).toBe(200);
    expect((await manage('PUT', { ...metadata, client_id, client_secret })).statusCode).toBe(400); // it has none now
  });

  test('RFC 7592 §2.2: keeps the secret as long as its client has one, and gets one with the need', async () => {
    const { answer, manage } = await registered();
    const { client_id, client_secret: first } = answer;
    const replace = async (method: string) =>
      (await manage('PUT', { ...metadata, client_id, token_endpoint_auth_method: method })).json();
    const errorOf = async (secret: string) => {
      const form = { grant_type: 'refresh_token', refresh_token: 'x', client_id, client_secret: secret };
      return (await sendForm(service, 'token', form)).json().error;
    };

    const posted = await replace('client_secret_post');
    const kept = await errorOf(first);
    const open = await replace('none');
    const gone = await errorOf(first);
    const again = await replace('client_secret_post');

    expect(posted).toMatchObject({ client_id, token_endpoint_auth_method: 'client_secret_post' });
    expect([posted.client_secret, open.client_secret]).toEqual([undefined, undefined]);
    expect([kept, gone]).toEqual(['invalid_grant', 'invalid_client']); // the first proves the client
    expect(again).toMatchObject({
      ...{ client_secret: expect.stringMatching(/^bhs_[\w-]{43}$/), client_secret_expires_at: 0 },
    });
    expect([await errorOf(first), await errorOf(again.client_secret)]).toEqual([
      ...['invalid_client', 'invalid_grant'],
    ]);
  });

  test('ends a day after it was made, unless it is used: then 90 days after its last use', async () => {
    const { resource } = await acmeServer();
    const [unused, used] = [(await registered()).answer, (await register(metadata)).json()];
    const ask = async (clientId: string) =>
      (await followLink(service, clientId, { resource })).answer.statusCode;
    await tokensOf(service, used.client_id, resource);

    service.advance(86_399.999);
    expect(await ask(unused.client_id)).toBe(303);
    service.advance(0.001);
    expect([await ask(unused.client_id), await ask(used.client_id)]).toEqual([400, 303]);
    service.advance(89 * 86_400 - 0.001);
    expect(await ask(used.client_id)).toBe(303);
    service.advance(0.001);
    expect(await ask(used.client_id)).toBe(400);
  });

  test('is deleted by the job when it has ended, and a younger one stays', async () => {
    const old = (await registered()).answer.client_id;
    service.advance(86_400);
    const young = (await registered()).answer.client_id;
    const job = expiryOfClients(service);

    await job.run(new AbortController().signal);

    const left = await service.db.selectFrom('dynamicClients').select('clientId').execute();
    const ids = left.map(({ clientId }) => clientId);
    expect([ids.includes(old), ids.includes(young)]).toEqual([false, true]);
  });
});

test('registration is open to as many as its rate allows, by address', async () => {
  const limited = await startApp({ env: { RATE_LIMIT_OAUTH_REGISTER: '1' }, store: 'memory' });

  expect((await register(metadata, limited)).statusCode).toBe(201);
  const refused = await register(metadata, limited);
  expect([refused.statusCode, refused.json().error]).toEqual([429, 'temporarily_unavailable']);
});

test('an operator who switches registration off has no such endpoint, and no such clients', async () => {
  const { client_id: clientId } = (await register(metadata)).json();
  const without = await startApp({ env: { OAUTH_DCR_ENABLED: 'false' } });
  const read = async (on: Service) =>
    (await on.app.inject('/.well-known/oauth-authorization-server')).json().registration_endpoint;

  expect((await register(metadata, without)).statusCode).toBe(404);
  expect(await read(without)).toBeUndefined();
  expect(await read(service)).toBe('https://auth.test/oauth/register');
  expect((await followLink(without, clientId, {})).answer.statusCode).toBe(400);
});

describe('a client that belongs to no developer, and a token', () => {
  const stated = (payload: object) =>
    `e30.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.${'x'.repeat(86)}`;
  const unknown = ['x', 'ref_x', 'ref_x.dev_unknown', stated({ dev: 'dev_unknown' }), stated({ dev: 7 })];

  test.each(unknown)('an unknown token gets the answer of RFC 7009 or RFC 7662: %s', async (token) => {
    const { resource } = await acmeServer();
    const { client_id: clientId } = (await register(metadata)).json();
    const known = (await tokensOf(service, clientId, resource)).json().access_token;

    const ended = await sendForm(service, 'revoke', { client_id: clientId, token });
    const told = await sendForm(service, 'introspect', { client_id: clientId, token });

    expect([ended.statusCode, ended.body, told.statusCode, told.json()]).toEqual([
      200,
      '',
      200,
      { active: false },
    ]);
    expect((await sendForm(service, 'introspect', { client_id: clientId, token: known })).json().active).toBe(
      true,
    );
    for (const path of ['revoke', 'introspect']) {
      expect((await sendForm(service, path, { client_id: clientId })).json().error).toBe('invalid_request');
      const stranger = await sendForm(service, path, { client_id: 'dcr_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', token });
      expect(stranger.json().error).toBe('invalid_client');
    }
  });
});

describe('a request of a client that belongs to no developer is counted', () => {
  test('in a share that such clients have together, which leaves that of a proved client alone', async () => {
    const env = { RATE_LIMIT_OAUTH_REGISTER: '100', RATE_LIMIT_OAUTH_AUTHORIZE: '1' };
    const limited = await startApp({ env, store: 'memory' });
    const acme = await limited.asDeveloper({ mode: 'sandbox' });
    const { resource } = await newServer(acme);
    const proved = await newClient(acme, { authMethod: 'client_secret_basic' });
    const follow = async () => {
      const { client_id: clientId } = (await register(metadata, limited)).json();
      const { back } = await followLink(limited, String(clientId), { resource, prompt: 'consent' });
      return back?.searchParams.get('error');
    };
    const answers = [];
    for (let one = 0; one < 13; one += 1) answers.push(await follow());
    expect(answers).toEqual([...Array(12).fill(null), 'temporarily_unavailable']);

    const { link } = await pkceLink(proved.clientId, {});
    const pair = `${proved.clientId}:${proved.clientSecret}`;
    const pushed = await limited.app.inject({
      method: 'POST',
      url: '/oauth/par',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
      },
      payload: new URL(link).searchParams.toString(),
    });
    expect(pushed.statusCode).toBe(201);
    const form = { client_id: proved.clientId, request_uri: String(pushed.json().request_uri) };
    const followed = await limited.app.inject(`/oauth/authorize?${new URLSearchParams(form)}`);
    expect(String(followed.headers.location)).toMatch(/\bcode=/);
  });

  test('also where it names no developer, at every endpoint', async () => {
    const env = {
      RATE_LIMIT_OAUTH_REGISTER: '100',
      ...{ RATE_LIMIT_OAUTH_TOKEN: '2', RATE_LIMIT_OAUTH_AUTHORIZE: '2', RATE_LIMIT_OAUTH_REVOKE: '2' },
    };
    const limited = await startApp({ env, store: 'memory' });
    const newId = async () => String((await register(metadata, limited)).json().client_id);
    const forms: Record<string, Record<string, string>> = {
      token: { grant_type: 'refresh_token', refresh_token: 'x' },
      revoke: { token: 'x' },
      par: {},
    };
    for (const [path, form] of Object.entries(forms)) {
      const [clientId, other] = [await newId(), await newId()];
      const ask = async (id: string) =>
        (await sendForm(limited, path, { ...form, client_id: id })).statusCode;
      const good = path === 'revoke' ? 200 : 400;
      expect([path, await ask(clientId), await ask(clientId), await ask(clientId)]).toEqual([
        path,
        good,
        good,
        429,
      ]);
      expect(await ask(other)).toBe(good);
    }
    const clientId = await newId();
    const follow = async () =>
      (await followLink(limited, clientId, { redirect_uri: 'https://evil.test' })).answer;
    expect([(await follow()).statusCode, (await follow()).statusCode]).toEqual([400, 400]);
    expect((await follow()).statusCode).toBe(429);
  });
});

describe('agents K6', () => {
  const UNSET = [null, '', [], {}, [null], { keys: [] }];
  const OPTIONAL = [
    ...['client_name', 'application_type', 'grant_types', 'response_types', 'token_endpoint_auth_method'],
    ...['client_uri', 'logo_uri', 'scope', 'jwks', 'jwks_uri', 'tos_uri', 'contacts', 'client_secret'],
  ];

  test('agents 01, 02: members that a client has not set count as left out, and are not echoed', async () => {
    const plain = (await register({ redirect_uris: metadata.redirect_uris })).json();
    const members = Object.keys(plain).sort();

    for (const unset of UNSET) {
      const body = Object.fromEntries(OPTIONAL.map((name) => [name, unset]));
      const answer = await register({ ...body, redirect_uris: metadata.redirect_uris });
      expect([unset, answer.statusCode]).toEqual([unset, 201]);
      expect([unset, Object.keys(answer.json()).sort()]).toEqual([unset, members]);
      expect(answer.json()).toMatchObject({
        ...{ client_name: 'A client without a name', grant_types: ['authorization_code'] },
        ...{ response_types: ['code'], token_endpoint_auth_method: 'none', application_type: 'native' },
      });
      const { client_id, registration_access_token: token } = answer.json();
      const replaced = await service.app.inject({
        ...{
          method: 'PUT',
          url: `/oauth/register/${client_id}`,
          headers: { authorization: `Bearer ${token}` },
        },
        payload: { ...body, ...metadata, client_id, logo_uri: 'https://editor.test/logo.png', scope: unset },
      });
      expect([unset, replaced.statusCode, replaced.json().scope]).toEqual([unset, 200, undefined]);
      expect(replaced.json()).toMatchObject({ ...metadata, logo_uri: 'https://editor.test/logo.png' });
    }
  });

  test('needed members that a client has not set are missing', async () => {
    for (const unset of UNSET) {
      const answer = await register({ ...metadata, redirect_uris: unset });
      expect([answer.statusCode, answer.json().error]).toEqual([400, 'invalid_redirect_uri']);
      const keyless = await register({
        ...metadata,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: unset,
      });
      expect([keyless.statusCode, keyless.json().error]).toEqual([400, 'invalid_client_metadata']);
    }
  });

  test('agents 05: a client of the device flow needs no redirect address, and follows no link', async () => {
    const { resource } = await acmeServer();

    for (const grant_types of [[DEVICE_GRANT], [DEVICE_GRANT, 'refresh_token']]) {
      const answer = await register({ client_name: 'Television', grant_types });
      expect([grant_types, answer.statusCode]).toEqual([grant_types, 201]);
      const told = { redirect_uris: [], response_types: [], client_name: 'Television' };
      expect(answer.json()).toMatchObject(told);
      expect([...answer.json().grant_types].sort()).toEqual([...grant_types].sort());
      expect((await followLink(service, answer.json().client_id, { resource })).answer.statusCode).toBe(400);
    }
    for (const grant_types of [
      ['authorization_code', DEVICE_GRANT],
      ['refresh_token'],
      ['client_credentials'],
    ])
      expect((await register({ client_name: 'Television', grant_types })).statusCode).toBe(400);
    const wrong = await register({ grant_types: [DEVICE_GRANT], redirect_uris: ['http://evil.example/'] });
    expect(wrong.json().error).toBe('invalid_redirect_uri');
  });

  test('31 ruling 14: a client that registers itself for the device flow gets tokens by it', async () => {
    const { acme, resource } = await acmeServer();
    const grant_types = [DEVICE_GRANT, 'refresh_token'];
    const { client_id } = (await register({ client_name: 'Television', grant_types })).json();
    const ask = (form: Record<string, string>) =>
      sendForm(service, 'device_authorization', { client_id, scope: 'calendar:read', ...form });
    const poll = (device_code: string) =>
      sendForm(service, 'token', { grant_type: DEVICE_GRANT, client_id, device_code });
    expect((await ask({})).json().error).toBe('invalid_target'); // whose service it is for

    const { device_code, user_code } = (await ask({ resource })).json();
    expect((await poll(device_code)).json().error).toBe('authorization_pending');
    expect((await poll(device_code)).json().error).toBe('slow_down');
    const person = personOn(service);
    const { redirectTo } = (
      await person.call('POST', '/v1/device', { body: { userCode: user_code } })
    ).json();
    await person.open(redirectTo);
    const { id } = linkParts(redirectTo);
    expect((await person.see(id)).json().client).toMatchObject({
      ...{ name: 'Television', vouchedBy: 'nobody', isLocal: false, resourceNames: ['Calendar server'] },
    });
    expect((await acme('GET', '/v1/agents')).json().agents).toEqual([]); // nobody has approved it yet
    await person.approve(id);
    service.advance(60);
    const tokens = await poll(device_code);

    expect([tokens.statusCode, tokens.json().scope]).toEqual([200, 'calendar:read']);
    const { refresh_token } = tokens.json();
    const refreshed = await sendForm(service, 'token', {
      grant_type: 'refresh_token',
      client_id,
      refresh_token,
    });
    expect(refreshed.statusCode).toBe(200);
    const { agents } = (await acme('GET', '/v1/agents')).json();
    expect(agents).toMatchObject([{ name: 'Television', origin: 'dcr', clientId: client_id }]);
    const again = (await ask({ resource })).json();
    expect((await poll(again.device_code)).json().error).toBe('authorization_pending'); // its agent is known now
  });

  test('31 ruling 14: a client polls no flow of another, and begins none without its grant type', async () => {
    const { resource } = await acmeServer();
    const newTelevision = async (grant_types: string[]) => {
      const body = { ...metadata, client_name: 'Television', grant_types };
      return String((await register(body)).json().client_id);
    };
    const ask = (client_id: string) =>
      sendForm(service, 'device_authorization', { client_id, resource, scope: 'calendar:read' });
    const poll = (client_id: string, device_code: string) =>
      sendForm(service, 'token', { grant_type: DEVICE_GRANT, client_id, device_code });
    const [own, other] = [await newTelevision([DEVICE_GRANT]), await newTelevision([DEVICE_GRANT])];
    const { device_code } = (await ask(own)).json();

    expect((await poll(own, device_code)).json().error).toBe('authorization_pending'); // the control
    expect((await poll(other, device_code)).json().error).toBe('invalid_grant');
    expect((await poll(own, 'x'.repeat(43))).json().error).toBe('expired_token');
    expect((await poll(own, 'x')).json().error).toBe('invalid_grant');
    const refused = (await ask(await newTelevision(['authorization_code']))).json();
    expect(refused.error).toBe('unauthorized_client');
    expect(refused.error_description).toContain(DEVICE_GRANT);
  });

  test('31 ruling 14: the backchannel flow, in which a client names the person, is refused when a client registers', async () => {
    for (const grant_types of [[CIBA_GRANT], [CIBA_GRANT, 'refresh_token']]) {
      const refused = await register({ client_name: 'Call centre', grant_types });
      expect([refused.statusCode, refused.json().error]).toEqual([400, 'invalid_client_metadata']);
      expect(refused.json().error_description).toContain('backchannel flow');
    }
    const both = await register({ client_name: 'Call centre', grant_types: [CIBA_GRANT, DEVICE_GRANT] });
    expect([both.statusCode, both.json().grant_types]).toEqual([201, [DEVICE_GRANT]]);
  });

  test('agents 48: a name has up to 255 characters, and is that of the agent', async () => {
    const { acme, resource } = await acmeServer();
    const client_name = `Coder (${'internal-tools-'.repeat(16)})`.padEnd(255, '!');

    const { client_id } = (await register({ ...metadata, client_name })).json();
    await tokensOf(service, client_id, resource);

    const { agents } = (await acme('GET', '/v1/agents')).json();
    expect(agents.map(({ name }: { name: string }) => name)).toEqual([client_name]);
  });

  test("agents 05: a developer's own client of the device flow needs none either", async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { agentId } = (await acme('POST', '/v1/agents', { name: 'Television' })).json();

    const put = await acme('PUT', `/v1/agents/${agentId}/oauth`, { authMethod: 'none' });
    const asked = { client_id: agentId, scope: 'calendar:read' };
    const device = await sendForm(service, 'device_authorization', asked);

    expect([put.statusCode, put.json().redirectUris, device.statusCode]).toEqual([200, [], 200]);
  });
});
