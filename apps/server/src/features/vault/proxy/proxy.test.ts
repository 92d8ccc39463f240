import { afterAll, describe, expect, test, vi } from 'vitest';
import { entriesOf, grantTo, partsOf, refusalOf } from '../../../../test/app/flow.ts';
import { onThisMachine, proxied, putProfile, through } from '../../../../test/app/proxy.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { exchange, storeCredential } from '../../../../test/app/vault.ts';
import { isTokenLive } from './calls.repo.ts';

let started: Promise<Service> | undefined;
afterAll(async () => (await started)?.stop());
const start = async () => {
  started ??= startApp({ isShared: true, env: onThisMachine });
  const service = await started;
  return { service, acme: await service.asDeveloper({ mode: 'sandbox' }) };
};

const rule = (members: object) => ({
  id: 'one',
  methods: ['GET', 'HEAD'],
  path: '/repos/{rest+}',
  unmapped: true,
  ...members,
});

describe('a call through the proxy', () => {
  test('takes no place of the twenty that are under way once it is refused', async () => {
    const { acme, service } = await start();
    const { grantToken } = await proxied(acme);
    for (let call = 1; call <= 20; call += 1) {
      expect(refusalOf(await through(service, grantToken, '/other'))).toBe('403 PROXY_DENIED no_rule');
    }

    expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(200);
  });

  test('is counted before a stop of its agent, person, grant or account while it is under way', async () => {
    const { acme, service } = await start();
    const { receiver, grantToken, agentId, grantId } = await proxied(acme);
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    receiver.answer(async (_request, response) => {
      begun.resolve();
      await ended.promise;
      response.end('{}');
    });
    const counted = async () => {
      const queries = [
        '',
        `?agentId=${agentId}`,
        '?principalId=user_42',
        `?grantId=${grantId}`,
        '?principalId=user_7',
      ];
      const answers = queries.map(
        async (query) => (await acme('GET', `/v1/stops/preview${query}`)).json().calls,
      );
      return Promise.all(answers);
    };

    const call = through(service, grantToken, '/repos/a');
    await begun.promise;
    const during = await counted();
    ended.resolve();
    await call;

    expect(during).toEqual([1, 1, 1, 1, 0]);
    await vi.waitFor(async () => expect(await counted()).toEqual([0, 0, 0, 0, 0]));
  });

  test('reaches the upstream with the credential, and its answer comes back', async () => {
    const { acme, service } = await start();
    const { receiver, grantToken, agentId, grantId, storedId } = await proxied(acme);

    const answer = await through(service, grantToken, '/repos/acme/site?page=2&page=3');

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ ok: true });
    expect(answer.headers).toMatchObject({
      'behest-proxy': 'upstream',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    expect(receiver.received).toEqual([
      {
        path: '/repos/acme/site?page=2&page=3',
        headers: {
          host: `127.0.0.1:${receiver.port}`,
          connection: 'keep-alive',
          authorization: 'Bearer upstream-access-1',
          'accept-encoding': 'identity',
          'user-agent': 'Behest-Proxy/0.6',
        },
        body: '',
      },
    ]);
    const [entry] = await entriesOf(acme, 'vault.proxy.called');
    expect(entry).toMatchObject({
      status: 'success',
      agentId,
      grantId,
      principalId: 'user_42',
      metadata: {
        credentialId: storedId,
        service: 'github',
        upstream: 'api',
        method: 'GET',
        rule: 'all',
        profileVersion: 1,
        jti: partsOf(grantToken).payload.jti,
        matchedScope: 'vault:github:proxy',
      },
    });
    expect(JSON.stringify(entry)).not.toContain('acme/site');
    const kept = async () =>
      (await acme('GET', '/v1/vault/proxy/calls?service=github&outcome=upstream')).json().calls;
    await vi.waitFor(async () => expect(await kept()).toHaveLength(1)); // it is kept after the answer
    expect(await kept()).toMatchObject([
      { callId: entry?.metadata.callId, status: 200, outcome: 'upstream', responseBytes: 11 },
    ]);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'passes the very bytes of a %s on, whatever their type',
    async (method) => {
      const { acme, service } = await start();
      const { receiver, grantToken } = await proxied(acme);

      const answer = await through(service, grantToken, '/repos/a', {
        method,
        headers: { 'content-type': 'text/x-odd; a=b', 'idempotency-key': 'one', 'x-secret': 'no' },
        body: Buffer.from('{"a": 1, "a": 2}\n'),
      });

      expect(answer.statusCode).toBe(200);
      expect(receiver.received[0]).toMatchObject({
        body: '{"a": 1, "a": 2}\n',
        headers: { 'content-type': 'text/x-odd; a=b', 'idempotency-key': 'one', 'content-length': '17' },
      });
      expect(receiver.received[0]?.headers).not.toHaveProperty('x-secret');
    },
  );

  test('answers HEAD without a body and with the length', async () => {
    const { acme, service } = await start();
    const { receiver, grantToken } = await proxied(acme);
    receiver.answerStatus(200, { 'content-length': '1234' });

    const answer = await through(service, grantToken, '/repos/a', { method: 'HEAD' });

    expect(answer).toMatchObject({ statusCode: 200, body: '', headers: { 'content-length': '1234' } });
  });

  test.each([204, 301, 304, 401, 403, 404, 429, 500, 503])(
    'passes the status %i with the mark of the upstream, and follows nothing',
    async (status) => {
      const { acme, service } = await start();
      const { receiver, grantToken } = await proxied(acme);
      receiver.answerStatus(status, { location: 'http://127.0.0.1:1/', 'www-authenticate': 'Bearer' });

      const answer = await through(service, grantToken, '/repos/a');

      expect(answer.statusCode).toBe(status);
      expect(answer.headers['behest-proxy']).toBe('upstream');
      expect(answer.headers).not.toHaveProperty('location');
      expect(answer.headers).not.toHaveProperty('www-authenticate');
      expect(receiver.received).toHaveLength(1);
    },
  );

  test('does not count against the plan of the developer', async () => {
    // So low a limit is not leased, so what is left is exact.
    const service = await startApp({ env: { ...onThisMachine, RATE_LIMIT_PLAN_FREE: '39' } });
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { grantToken } = await proxied(acme);
    const before = Number((await acme('GET', '/v1/me')).headers['x-ratelimit-remaining']);
    for (let each = 0; each < 3; each += 1) await through(service, grantToken, '/repos/a');
    const after = Number((await acme('GET', '/v1/me')).headers['x-ratelimit-remaining']);
    expect(after).toBe(before - 1);
  });

  test('is told to subscribers that name it', async () => {
    const { acme, service } = await start();
    const { grantToken } = await proxied(acme);
    await through(service, grantToken, '/repos/a');
    const { events } = (await acme('GET', '/v1/events?types=vault.proxy.called')).json();
    expect(events).toMatchObject([{ data: { service: 'github', method: 'GET', rule: 'all' } }]);
  });
});

describe('the credential travels', () => {
  test.each([
    ['bearer', { style: 'bearer' }, 'authorization', 'Bearer upstream-access-1'],
    [
      'basic, with a name',
      { style: 'basic', username: 'ada' },
      'authorization',
      `Basic ${btoa('ada:upstream-access-1')}`,
    ],
    ['basic, whole', { style: 'basic' }, 'authorization', `Basic ${btoa('upstream-access-1')}`],
    [
      'in a header',
      { style: 'header', name: 'X-Api-Key', prefix: 'Key ' },
      'x-api-key',
      'Key upstream-access-1',
    ],
  ])('%s, in place of what the agent sends there', async (_, inject, name, value) => {
    const { acme, service } = await start();
    const { receiver, grantToken } = await proxied(acme, {
      profile: { inject, headers: { 'X-Version': '3' }, forwardHeaders: ['X-Trace'] },
    });

    await through(service, grantToken, '/repos/a', {
      headers: { 'x-api-key': 'mine', x_api_key: 'mine', 'x-trace': 't' },
    });

    expect(receiver.received[0]?.headers).toMatchObject({ [name]: value, 'x-version': '3', 'x-trace': 't' });
    expect(JSON.stringify(receiver.received[0]?.headers)).not.toContain('mine');
    if (name !== 'authorization') expect(receiver.received[0]?.headers).not.toHaveProperty('authorization');
  });

  test('in the query, in place of what the agent sends there in any spelling', async () => {
    const { acme, service } = await start();
    const inject = { style: 'query', name: 'api_key', acknowledgeUrlRisk: true };
    const { receiver, grantToken } = await proxied(acme, {
      profile: { inject, rules: [rule({ query: ['page'] })] },
    });
    receiver.answer((_request, response) => {
      response.writeHead(302, { location: '/repos/b?api_key=upstream-access-1&page=2' }).end();
    });

    const answer = await through(
      service,
      grantToken,
      '/repos/a?api_key=mine&page=1&%61pi_key=mine&API_KEY=mine',
    );

    expect(receiver.received[0]?.path).toBe('/repos/a?page=1&api_key=upstream-access-1');
    expect(answer.headers.location).toBe('/v1/vault/proxy/github/repos/b?page=2');
    const put = await putProfile(acme, 'http://127.0.0.1:1', { inject });
    expect(put.json().warnings).toEqual([{ code: 'credential_in_url' }]);
  });
});

describe('a call is refused', () => {
  const cases: [
    why: string,
    expected: string,
    options: {
      scopes?: string[];
      profile?: object;
      path?: string;
      headers?: Record<string, string>;
      method?: 'GET' | 'POST';
    },
  ][] = [
    ['without a scope', '403 FORBIDDEN scope', { scopes: ['calendar:read'] }],
    ['with the scope of another service', '403 FORBIDDEN scope', { scopes: ['vault:git:proxy'] }],
    ['with a scope that only covers it', '403 FORBIDDEN scope', { scopes: ['vault:*'] }],
    ['when a scope to read would write', '403 FORBIDDEN scope', { scopes: ['github:read'], method: 'POST' }],
    ['with a path that no rule has', '403 PROXY_DENIED no_rule', { path: '/user' }],
    ['with another case', '403 PROXY_DENIED no_rule', { path: '/Repos/a' }],
    ['with a slash too few', '403 PROXY_DENIED no_rule', { path: '/repos' }],
    [
      'with a method that no rule has',
      '403 PROXY_DENIED no_rule',
      { method: 'POST', profile: { rules: [rule({})] } },
    ],
    [
      'with a parameter that the rule does not have',
      '403 PROXY_DENIED query',
      { path: '/repos/a?b=1', profile: { rules: [rule({ query: ['c'] })] } },
    ],
    [
      'with an upstream that the profile does not have',
      '403 PROXY_DENIED no_rule',
      { headers: { 'behest-upstream': 'other' } },
    ],
    [
      'with an encoded body',
      '415 UNSUPPORTED_MEDIA_TYPE',
      { method: 'POST', headers: { 'content-encoding': 'gzip' } },
    ],
    ['with an upgrade', '501 NOT_SUPPORTED', { headers: { upgrade: 'h2c' } }],
    [
      'with another method in a header',
      '405 METHOD_NOT_ALLOWED',
      { headers: { 'X-HTTP-Method-Override': 'DELETE' } },
    ],
    [
      'with another method under an odd name',
      '405 METHOD_NOT_ALLOWED',
      { headers: { x_http_method: 'DELETE' } },
    ],
  ];
  test.each(cases)(
    '%s: %s',
    async (_, expected, { scopes, profile, path = '/repos/a', headers, method = 'GET' }) => {
      const { acme, service } = await start();
      const its = await proxied(acme, {
        ...(profile && { profile }),
        ...(scopes && { request: { scopes } }),
      });

      const answer = await through(service, its.grantToken, path, { method, ...(headers && { headers }) });

      expect(refusalOf(answer)).toBe(expected);
      expect(answer.headers['behest-proxy']).toBe('refused');
      expect(answer.headers.allow).toBe(answer.statusCode === 405 ? method : undefined);
      expect(its.receiver.received).toEqual([]);
      const { grantToken } = await grantTo(acme, { scopes: ['vault:github:proxy'] });
      const control = await through(service, grantToken, '/repos/a');
      expect([control.statusCode, its.receiver.received.length]).toEqual([200, 1]);
    },
  );

  test.each([
    'vault:github:proxy',
    'vault:credentials:proxy',
    '*',
    'github:*',
    'github:read',
    'vault:github:read',
  ])('but not with the scope %s', async (scope) => {
    const { acme, service } = await start();
    const { grantToken } = await proxied(acme, { request: { scopes: ['calendar:read', scope] } });
    expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(200);
  });

  test('without a token, with a key, and after the revocation', async () => {
    const { acme, service } = await start();
    const { grantToken, grantId, receiver } = await proxied(acme);
    expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(200);

    await acme('DELETE', `/v1/grants/${grantId}`);

    for (const token of ['', acme.apiKey, grantToken]) {
      const answer = await through(service, token, '/repos/a');
      expect(refusalOf(answer)).toBe('401 UNAUTHORIZED');
      expect(answer.headers['behest-proxy']).toBe('refused');
    }
    expect(receiver.received).toHaveLength(1);
  });

  test('without a profile, and without a credential', async () => {
    const { acme, service } = await start();
    const { grantToken } = await grantTo(acme, { scopes: ['vault:github:proxy'] });
    expect(refusalOf(await through(service, grantToken, '/repos/a'))).toBe('403 PROXY_DENIED no_profile');
    await putProfile(acme, 'http://127.0.0.1:1');
    expect(refusalOf(await through(service, grantToken, '/repos/a'))).toBe('404 NOT_FOUND');
    const blocked = await entriesOf(acme, 'vault.proxy_blocked');
    expect(blocked).toMatchObject([
      { status: 'blocked', metadata: { service: 'github', reason: 'no_profile' } },
    ]);
  });

  test('when its body is larger than the profile allows, told or counted', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme, { profile: { maxRequestBytes: 10 } });
    const post = (body: string) => through(service, grantToken, '/repos/a', { method: 'POST', body });
    expect((await post('0123456789')).statusCode).toBe(200);
    expect(refusalOf(await post('0123456789a'))).toBe('413 PAYLOAD_TOO_LARGE');
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a credential', () => {
  test('V12: goes only to origins that the profile had when it was stored', async () => {
    const { acme, service } = await start();
    const { grantToken, origin } = await proxied(acme);
    const thief = await proxied(await service.asDeveloper({ mode: 'sandbox' }));

    await putProfile(acme, thief.origin);
    expect(refusalOf(await through(service, grantToken, '/repos/a'))).toBe('403 PROXY_DENIED origin');
    expect(thief.receiver.received).toEqual([]);

    await putProfile(acme, origin);
    expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(200);
    await putProfile(acme, thief.origin);
    await storeCredential(acme, { accessToken: 'another-token-1' });
    expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(200);
    expect(thief.receiver.received[0]?.headers.authorization).toBe('Bearer another-token-1');
  });

  test('is held to its own upstreams and rules too', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme, {
      credential: { proxy: { upstreams: ['api'], rules: [rule({ id: 'mine', path: '/repos/mine' })] } },
    });
    expect((await through(service, grantToken, '/repos/mine')).statusCode).toBe(200);
    expect(refusalOf(await through(service, grantToken, '/repos/other'))).toBe('403 PROXY_DENIED no_rule');
    expect(receiver.received).toHaveLength(1);
  });

  test('is not exchanged where its service is for the proxy alone, also when a later profile would allow it', async () => {
    const { acme, service } = await start();
    const { grantToken, origin } = await proxied(acme, {
      profile: { exchange: 'proxy_only' },
      request: { scopes: ['github:read'] },
    });
    expect(refusalOf(await exchange(service, grantToken))).toBe('403 FORBIDDEN proxy_only');
    await putProfile(acme, origin);
    expect(refusalOf(await exchange(service, grantToken))).toBe('403 FORBIDDEN proxy_only');
    await storeCredential(acme);
    expect((await exchange(service, grantToken)).statusCode).toBe(200);
    await putProfile(acme, origin, { exchange: 'proxy_only' });
    expect(refusalOf(await exchange(service, grantToken))).toBe('403 FORBIDDEN proxy_only');
    await acme('DELETE', '/v1/vault/proxy-profiles/github');
    expect((await exchange(service, grantToken)).statusCode).toBe(200);
    await storeCredential(acme, { proxy: { only: true } });
    expect(refusalOf(await exchange(service, grantToken))).toBe('403 FORBIDDEN proxy_only');
  });
});

describe('a stream that is open', () => {
  const isLive = async (service: Service, acme: Developer, grantToken: string) =>
    isTokenLive(service.db, acme, String(partsOf(grantToken).payload.jti), service.clock());

  test.each([
    [1, true],
    [0, false],
  ])('goes on %i ms before the end of its token: %s', async (milliseconds, goesOn) => {
    const { acme, service } = await start();
    const { grantToken } = await grantTo(acme);
    const expiresAt = new Date(service.clock().getTime() + milliseconds);
    const own = service.db.updateTable('tokens').where('developerId', '=', acme.developerId);
    await own.set({ expiresAt }).execute();

    expect(await isLive(service, acme, grantToken)).toBe(goesOn);
  });

  test('ends when its agent is suspended', async () => {
    const { acme, service } = await start();
    const { grantToken, agentId } = await grantTo(acme);
    expect(await isLive(service, acme, grantToken)).toBe(true);

    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });

    expect(await isLive(service, acme, grantToken)).toBe(false);
  });
});
