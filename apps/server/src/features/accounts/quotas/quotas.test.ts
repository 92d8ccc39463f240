import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { registerWebhook } from '../../../../test/app/deliveries.ts';
import { authorize, grantTo, registerAgent } from '../../../../test/app/flow.ts';
import { type Developer, startApp } from '../../../../test/app/start-app.ts';

const register = (developer: Developer) => developer('POST', '/v1/agents', { name: 'a' });

/** Makes `times` calls at once, and counts the answers by their status. */
async function statusesOf(times: number, call: (at: number) => Promise<{ statusCode: number }>) {
  const answers = await Promise.all(Array.from({ length: times }, (_, at) => call(at)));
  const count = (status: number) => answers.filter(({ statusCode }) => statusCode === status).length;
  return { made: count(201), refused: count(402), other: times - count(201) - count(402) };
}

describe('agents', () => {
  test('beyond the plan are refused, and the answer names the quota', async () => {
    const { asDeveloper } = await startApp({ env: { PLAN_FREE_AGENTS: '2' } });
    const [acme, other] = [await asDeveloper(), await asDeveloper()];
    await register(acme);
    await register(acme);

    const refused = await register(acme);

    expect(refused.statusCode).toBe(402);
    expect(refused.json()).toEqual({
      code: 'PLAN_LIMIT_EXCEEDED',
      message: expect.any(String),
      requestId: refused.headers['x-request-id'],
      details: { limit: 2, plan: 'free', resource: 'agents', current: 2 },
    });
    expect((await acme('GET', '/v1/agents')).json().agents).toHaveLength(2);
    expect((await register(other)).statusCode).toBe(201);
  });

  test('are exactly as many as the plan includes when 20 come at once', async () => {
    const { asDeveloper } = await startApp({ env: { PLAN_FREE_AGENTS: '5' } });
    const acme = await asDeveloper();

    expect(await statusesOf(20, () => register(acme))).toEqual({ made: 5, refused: 15, other: 0 });
    expect((await acme('GET', '/v1/agents')).json().agents).toHaveLength(5);
  });

  test('make room when they are revoked, also when all calls come at once', async () => {
    const { asDeveloper } = await startApp({ env: { PLAN_FREE_AGENTS: '5' } });
    const acme = await asDeveloper();
    const made = await Promise.all(Array.from({ length: 5 }, () => registerAgent(acme)));

    await Promise.all(made.slice(0, 3).map(({ agentId }) => acme('DELETE', `/v1/agents/${agentId}`)));
    await acme('DELETE', `/v1/agents/${made[0]?.agentId}`); // a repeated revocation makes no more room

    expect(await statusesOf(10, () => register(acme))).toEqual({ made: 3, refused: 7, other: 0 });
  });

  test('are refused where the plan includes none, and unlimited where it has no limit', async () => {
    const { asDeveloper } = await startApp({ env: { PLAN_FREE_AGENTS: '0' } });
    expect((await register(await asDeveloper())).statusCode).toBe(402);

    const { asDeveloper: unlimited } = await startApp({ env: { PLAN_FREE_AGENTS: 'unlimited' } });
    const acme = await unlimited();
    expect(await statusesOf(10, () => register(acme))).toMatchObject({ made: 10 });
  });

  test.each([
    ['pro', { PLAN_PRO_AGENTS: '1' }],
    ['enterprise', { PLAN_ENTERPRISE_AGENTS: '1' }],
  ])('are counted by the plan of the developer: %s', async (plan, env) => {
    const { asDeveloper } = await startApp({
      env: { DEFAULT_PLAN: plan, PLAN_FREE_AGENTS: '9', RATE_LIMIT_PLAN_PRO: '999', ...env },
    });
    const acme = await asDeveloper();

    await register(acme);

    expect((await register(acme)).json()).toMatchObject({ details: { plan, limit: 1 } });
  });
});

describe('active grants', () => {
  const env = { PLAN_FREE_ACTIVE_GRANTS: '5' };

  async function codes(developer: Developer, count: number, request: object = {}) {
    const { agentId } = await registerAgent(developer);
    const made: string[] = [];
    for (let at = 0; at < count; at += 1)
      made.push(String((await authorize(developer, agentId, request)).code));
    return { agentId, exchange: (at: number) => developer('POST', '/v1/token', { code: made[at], agentId }) };
  }

  test('are exactly as many as the plan includes when 20 codes are exchanged at once', async () => {
    const { asDeveloper, db } = await startApp({ env: { PLAN_FREE_ACTIVE_GRANTS: '20' } });
    const acme = await asDeveloper({ mode: 'sandbox' });
    const { exchange } = await codes(acme, 20);
    await db
      .updateTable('quotaCounters')
      .set({ used: '15' }) // as though fifteen had expired: the counter lags, and is too high
      .where('developerId', '=', acme.developerId)
      .where('resource', '=', 'active_grants')
      .execute();

    expect(await statusesOf(20, exchange)).toEqual({ made: 20, refused: 0, other: 0 });
  });

  test('leave the code valid when they are refused, for a time when there is room', async () => {
    const { asDeveloper } = await startApp({ env });
    const acme = await asDeveloper({ mode: 'sandbox' });
    const { exchange } = await codes(acme, 12);

    const results = await Promise.all(Array.from({ length: 12 }, (_, at) => exchange(at)));
    const made = results.filter(({ statusCode }) => statusCode === 201);
    const refusedAt = results.findIndex(({ statusCode }) => statusCode === 402);

    expect(made).toHaveLength(5);
    expect(results[refusedAt]?.json().details).toEqual({
      limit: 5,
      plan: 'free',
      resource: 'active_grants',
      current: 5,
    });
    const { grants } = (await acme('GET', '/v1/grants')).json();
    expect(grants).toHaveLength(5);

    await acme('DELETE', `/v1/grants/${grants[0].grantId}`);
    expect((await exchange(refusedAt)).statusCode).toBe(201);
  });

  test('make room when they expire, although the counter does not change', async () => {
    const { asDeveloper, advance } = await startApp({ env });
    const acme = await asDeveloper({ mode: 'sandbox' });
    const early = await codes(acme, 6, { expiresIn: '1h' });
    for (let at = 0; at < 5; at += 1) await early.exchange(at);
    const atLimit = await early.exchange(5);
    advance(3601);

    const { exchange } = await codes(acme, 8);

    expect(atLimit.statusCode).toBe(402);
    expect(await statusesOf(8, exchange)).toEqual({ made: 5, refused: 3, other: 0 });
  });
});

test('each resource is counted for its developer alone, without what has ended', async () => {
  const { asDeveloper, db, clock, advance } = await startApp();
  const [acme, other] = [await asDeveloper({ mode: 'sandbox' }), await asDeveloper({ mode: 'sandbox' })];
  for (const developer of [acme, other]) {
    await registerWebhook(developer, 'https://hooks.acme.test/');
    await grantTo(developer, { expiresIn: '1h' });
    await grantTo(developer);
    const { agentId } = await grantTo(developer);
    await developer('DELETE', `/v1/agents/${agentId}`);
  }
  advance(3600);
  const countOf = async (resource: string) => {
    const call = sql<{
      used: string;
    }>`select exact_use(${acme.developerId}, ${resource}, ${clock()}) as used`;
    return Number((await call.execute(db)).rows[0]?.used);
  };

  expect([await countOf('agents'), await countOf('active_grants'), await countOf('webhooks')]).toEqual([
    2, 1, 1,
  ]);
});

test('a counter that lags is never below zero, or the plan would have room that it does not include', async () => {
  const { asDeveloper, db } = await startApp({ env: { PLAN_FREE_AGENTS: '1' } });
  const acme = await asDeveloper();
  const { agentId } = await registerAgent(acme);
  await db
    .updateTable('quotaCounters')
    .set({ used: '0' })
    .where('developerId', '=', acme.developerId)
    .execute();

  await acme('DELETE', `/v1/agents/${agentId}`);

  expect(await statusesOf(3, () => register(acme))).toEqual({ made: 1, refused: 2, other: 0 });
});

const profile = {
  upstreams: { api: 'https://api.upstream.example' },
  inject: { style: 'bearer' },
  rules: [{ id: 'read', methods: ['GET'], path: '/repos', unmapped: true }],
};
const provider = {
  kind: 'oauth2',
  authorizationEndpoint: 'https://files.example/authorize',
  tokenEndpoint: 'https://files.example/token',
  clientId: 'client',
  clientSecret: 'secret',
  scopes: { required: ['files:read'] },
};
const connection = {
  protocol: 'oidc',
  issuerUrl: 'https://idp.example',
  clientId: 'client',
  clientSecret: 'secret',
};
const schemaUrl = 'https://behest.dev/schemas/manifest-0.6.json';

test.each([
  [
    'manifests',
    'manifests',
    'PUT /v1/manifests/NAME',
    { $schema: schemaUrl, connector: 'NAME', version: '1.0.0', tools: { list: 'read' } },
  ],
  [
    'vault_credentials',
    'vault credentials',
    'POST /v1/vault/credentials',
    { principalId: 'ada', service: 'NAME', accessToken: 'upstream-access' },
  ],
  ['vault_providers', 'vault providers', 'POST /v1/vault/providers', { ...provider, service: 'NAME' }],
  ['proxy_profiles', 'proxy profiles', 'PUT /v1/vault/proxy-profiles/NAME', profile],
  ['resources', 'resources', 'POST /v1/resources', { resource: 'http://localhost/NAME', name: 'NAME' }],
  ['sso_connections', 'SSO connections', 'POST /v1/sso/connections', { ...connection, name: 'NAME' }],
  ['approvers', 'approvers', 'POST /v1/approvers', { email: 'NAME@acme.test', displayName: 'NAME' }],
])(
  'medium 7: %s are as many as the plan includes, and a deletion makes room',
  async (resource, words, route, body) => {
    const { asDeveloper } = await startApp({ env: { [`PLAN_FREE_${resource.toUpperCase()}`]: '2' } });
    const acme = await asDeveloper({ mode: 'sandbox' });
    const [method, path = ''] = route.split(' ');
    const add = (name: string) => {
      const named = JSON.parse(JSON.stringify(body).replaceAll('NAME', name));
      return acme(method === 'PUT' ? 'PUT' : 'POST', path.replace('NAME', name), named);
    };
    const first = await add('one');
    const made = method === 'PUT' && resource !== 'manifests' ? 200 : 201;
    expect([first.statusCode, (await add('two')).statusCode]).toEqual([made, made]);

    const refused = await add('three');
    expect(refused.statusCode).toBe(402);
    expect(refused.json()).toMatchObject({
      code: 'PLAN_LIMIT_EXCEEDED',
      message: `The free plan includes 2 ${words}, and all are used.`,
      details: { limit: 2, plan: 'free', resource, current: 2 },
    });

    const { id, approverId } = first.json();
    const own = method === 'PUT' ? path.replace('NAME', 'one') : `${path}/${id ?? approverId}`;
    expect((await acme('DELETE', own)).statusCode).toBe(204);
    expect((await add('three')).statusCode).toBe(made);
    expect((await add('four')).statusCode).toBe(402);
  },
);
