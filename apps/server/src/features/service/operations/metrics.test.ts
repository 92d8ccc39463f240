import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { authorize, grantTo, pkce, registerAgent, startSandbox } from '../../../../test/app/flow.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { catalogue } from '../../../features.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { openDatabase } from '../../../platform/db/open-database.ts';
import { recordActs } from '../../record/audit/index.ts';

const TOKEN = 'a-token-of-the-operator';

/** `name{label="value"} 3` as `[name, { label: value }, 3]`. */
async function samplesOf({ app }: Pick<Service, 'app'>) {
  const { body } = await app.inject({ url: '/metrics' });
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]);
    return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
  });
}

/** The value of a counter under one label. */
async function countOf(service: Pick<Service, 'app'>, name: string, label: string): Promise<number> {
  const samples = await samplesOf(service);
  const found = samples.filter((each) => each.name === name && Object.values(each.labels).includes(label));
  return found.reduce((sum, { value }) => sum + value, 0);
}

describe('P1: the metrics', () => {
  const asked = async (env: Record<string, string>, from: string, authorization?: string) => {
    const { app } = await startApp({ env });
    const headers = authorization ? { authorization } : {};
    return app.inject({ url: '/metrics', remoteAddress: from, headers });
  };

  test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
    'answer this machine in development, as %s',
    async (from) => {
      const { statusCode, headers, body } = await asked({}, from);

      expect(statusCode).toBe(200);
      expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(body).toMatch(/^# HELP http_request_duration_seconds /m);
    },
  );

  test.each([
    ['another machine, without a token', {}, '192.0.2.1', undefined],
    ['another machine, when no token is configured', {}, '192.0.2.1', `Bearer ${TOKEN}`],
    ['another machine that claims to be this machine', { TRUST_PROXY: '192.0.2.1' }, '192.0.2.1', undefined],
    ['another machine with a wrong token', { METRICS_TOKEN: TOKEN }, '192.0.2.1', `Bearer ${TOKEN}x`],
    ['another machine with half a token', { METRICS_TOKEN: TOKEN }, '192.0.2.1', 'Bearer a-token'],
    ['the token in another scheme', { METRICS_TOKEN: TOKEN }, '192.0.2.1', `Basic ${TOKEN}`],
  ])('refuse %s', async (_, env, from, authorization) => {
    const { statusCode, headers, body } = await asked(env, from, authorization);

    expect(statusCode).toBe(401);
    expect(headers['www-authenticate']).toMatch(/^Bearer/);
    expect(body).not.toContain('http_request');
  });

  test('answer a caller with the token, from anywhere', async () => {
    const { statusCode } = await asked({ METRICS_TOKEN: TOKEN }, '192.0.2.1', `bearer ${TOKEN}`);

    expect(statusCode).toBe(200);
  });

  test('ignore an address in a header', async () => {
    const { app } = await startApp({ env: { TRUST_PROXY: '192.0.2.1' } });

    const { statusCode } = await app.inject({
      url: '/metrics',
      remoteAddress: '192.0.2.1',
      headers: { 'x-forwarded-for': '127.0.0.1' },
    });

    expect(statusCode).toBe(401);
  });

  test('refuse this machine in production without the token', async () => {
    const { app } = await startApp();
    const production = {
      NODE_ENV: 'production',
      PUBLIC_BASE_URL: 'https://auth.test',
      METRICS_TOKEN: TOKEN,
      VAULT_ENCRYPTION_KEY: 'ab'.repeat(32),
    };
    const service = await startApp({ env: production });
    const headers = { authorization: `Bearer ${TOKEN}` };

    expect((await app.inject({ url: '/metrics' })).statusCode).toBe(200);
    expect((await service.app.inject({ url: '/metrics' })).statusCode).toBe(401);
    expect((await service.app.inject({ url: '/metrics', headers })).statusCode).toBe(200);
  });
});

describe('P1: the labels of the metrics', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startApp({ isShared: true, realLimits: true, store: 'memory' }); // a counter of its own
    return service.stop;
  });

  test('are words of the source for any request, and no id, address, token or path', async () => {
    const { app, routes, asDeveloper } = service;
    const acme = await asDeveloper({ mode: 'sandbox' });
    const { agentId, grantId, grantToken, refreshToken } = await grantTo(acme);
    const { code } = await authorize(acme, agentId, pkce().asked);
    await acme('POST', '/v1/token', { code, agentId, codeVerifier: pkce().codeVerifier });
    await acme('POST', '/v1/token/refresh', { refreshToken, agentId });
    await acme('POST', '/v1/token/refresh', { refreshToken, agentId });
    await acme('POST', '/v1/tokens/verify', { token: grantToken });
    await acme('DELETE', `/v1/grants/${grantId}`);
    await acme('DELETE', `/v1/agents/${agentId}`);
    await app.inject({ url: `/nowhere/${randomUUID()}?secret=${grantToken}` });
    await app.inject({ method: 'PROPFIND' as 'GET', url: '/v1/agents' });
    await app.inject({ url: `/v1/agents/${'x'.repeat(300)}` });
    await app.inject({ url: '/v1/agents/%E0%A4%A' });
    await app.inject({ url: '/v1/agents/' });
    await Promise.all(Array.from({ length: 12 }, () => acme('POST', '/v1/authorize', {})));

    const samples = await samplesOf(service);

    const patterns = new Set(['unknown', ...routes.map(({ url }) => url)]);
    const known: Record<string, (value: string) => boolean> = {
      method: (value) => /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|other)$/.test(value),
      route: (value) => patterns.has(value),
      status: (value) => /^[1-5]xx$/.test(value),
      type: catalogue.isReserved,
      action: catalogue.isReserved,
      reason: (value) =>
        /^(developer|agent_revoked|token_revoked|parent|code_reuse|refresh_reuse)$/.test(value),
      source: (value) => /^(service|developer)$/.test(value),
      rule: (value) => /^(plan|authorize)$/.test(value),
      cache: (value) => /^(api_keys|rate_leases)$/.test(value),
      result: (value) => /^(hit|miss)$/.test(value),
      state: (value) => /^(idle|busy)$/.test(value),
      le: (value) => value === '+Inf' || Number(value) > 0,
    };
    const strange = samples.flatMap(({ name, labels }) =>
      Object.entries(labels)
        .filter(([key, value]) => !known[key]?.(value))
        .map((pair) => [name, ...pair]),
    );
    expect(strange).toEqual([]);
    expect(samples.length).toBeGreaterThan(100);
    const seen = (label: string, value: string) => samples.some(({ labels }) => labels[label] === value);
    expect([seen('route', 'unknown'), seen('rule', 'authorize'), seen('route', '/v1/agents/:id')]).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe('a counter', () => {
  test('counts committed acts, of hot functions and of others', async () => {
    const { service, acme } = await startSandbox();
    const { agentId, grantId, refreshToken, did } = await grantTo(acme);
    await acme('POST', '/v1/token/refresh', { refreshToken, agentId });
    const entry = { agentId, agentDid: did, grantId, principalId: 'user_42', action: 'flight.booked' };
    await acme('POST', '/v1/audit/log', entry);
    await acme('DELETE', `/v1/grants/${grantId}`);

    expect(await countOf(service, 'acts_total', 'agent.created')).toBe(1);
    expect(await countOf(service, 'acts_total', 'authorization.requested')).toBe(1);
    expect(await countOf(service, 'acts_total', 'authorization.approved')).toBe(1);
    expect(await countOf(service, 'acts_total', 'grant.created')).toBe(1);
    expect(await countOf(service, 'acts_total', 'token.issued')).toBe(2);
    expect(await countOf(service, 'grants_revoked_total', 'developer')).toBe(1);
    expect(await countOf(service, 'audit_entries_total', 'developer')).toBe(1);
    const { entries } = (await acme('GET', '/v1/audit/entries?limit=500')).json();
    expect(await countOf(service, 'audit_entries_total', 'service')).toBe(entries.length - 1);
  });

  test('does not count a refusal, by a hot function or before it', async () => {
    const { service, acme } = await startSandbox({ env: { PLAN_FREE_ACTIVE_GRANTS: '1' } });
    const { agentId } = await registerAgent(acme);
    const codes = [(await authorize(acme, agentId)).code, (await authorize(acme, agentId)).code];
    await acme('POST', '/v1/token', { code: codes[0], agentId });

    const refused = await acme('POST', '/v1/token', { code: codes[1], agentId }); // by the hot function

    expect(refused.json().code).toBe('PLAN_LIMIT_EXCEEDED');
    expect(await countOf(service, 'acts_total', 'grant.created')).toBe(1);
    expect(await countOf(service, 'acts_total', 'token.issued')).toBe(1);
  });

  test('does not count an entry that the plan has no room for', async () => {
    const { service, acme } = await startSandbox({ env: { PLAN_FREE_AUDIT_APPENDS: '1' } });
    const { agentId, did, grantId } = await grantTo(acme);
    const entry = { agentId, agentDid: did, grantId, principalId: 'user_42', action: 'flight.booked' };
    await acme('POST', '/v1/audit/log', entry);

    const refused = await acme('POST', '/v1/audit/log', entry);

    expect(refused.json().code).toBe('PLAN_LIMIT_EXCEEDED');
    expect(await countOf(service, 'audit_entries_total', 'developer')).toBe(1);
  });

  test('does not count an act that was rolled back, nor add it to the next transaction', async () => {
    const { service, acme, db, clock } = await startSandbox();
    const caller = {
      tenant: { developerId: acme.developerId },
      actor: 'system',
      agentIds: null,
      role: 'full',
      mode: 'sandbox',
      plan: 'free',
      requestId: 'test',
    } as const;
    const act = { type: 'agent.created', data: { name: 'a' } } as const;
    const failing = inTransaction(db, async (tx) => {
      await recordActs(tx, caller, [act], clock());
      throw new Error('after all');
    });

    await expect(failing).rejects.toThrow('after all');
    await inTransaction(db, async (tx) => {
      const undone = inTransaction(tx, async (inner) => {
        await recordActs(inner, caller, [act], clock());
        throw new Error('this part only');
      });
      await expect(undone).rejects.toThrow('this part only');
    });
    await Promise.all(Array.from({ length: 8 }, () => registerAgent(acme)));

    expect(await countOf(service, 'acts_total', 'agent.created')).toBe(8);
  });

  test('counts every blocked attempt, though the audit log has only the first of each minute', async () => {
    const { service, acme } = await startSandbox();
    const { agentId, refreshToken } = await grantTo(acme);
    for (let times = 0; times < 4; times += 1) {
      await acme('POST', '/v1/token/refresh', { refreshToken, agentId });
    }

    expect(await countOf(service, 'blocked_attempts_total', 'token.reuse_detected')).toBe(3);
    const { entries } = (await acme('GET', '/v1/audit/entries?status=blocked')).json();
    expect(entries).toHaveLength(1);
  });

  test('counts each request once, by route and class of status', async () => {
    const { service, acme } = await startSandbox();
    await acme('GET', '/v1/agents');
    await acme('GET', '/v1/agents/ag_none');

    const samples = await samplesOf(service);
    const requests = samples.filter(({ name }) => name === 'http_request_duration_seconds_count');

    expect(requests.map(({ labels, value }) => [...Object.values(labels), value])).toEqual([
      ['POST', '/v1/signup', '2xx', 1],
      ['GET', '/v1/agents', '2xx', 1],
      ['GET', '/v1/agents/:id', '4xx', 1],
    ]);
  });
});

test('without a database the metrics lack only the values that the database knows', async () => {
  const away = () => openDatabase({ connectionString: 'postgres://nobody:x@127.0.0.1:1/nothing' });
  const names = async (service: Service) => (await samplesOf(service)).map(({ name }) => name);

  expect(await names(await startApp())).toContain('authorization_requests_overdue');
  const without = await names(await startApp({ dbAs: away }));
  expect(without).toContain('redis_up');
  expect(without).not.toContain('authorization_requests_overdue');
});

test('the metrics call the limiter degraded while Redis is away, and not after its return', async () => {
  let isAway = true;
  const service = await startApp({
    storeAs: (store) => ({
      ...store,
      charge: (bills) => (isAway ? Promise.reject(new Error('away')) : store.charge(bills)),
    }),
  });
  const degraded = async () =>
    (await samplesOf(service)).find(({ name }) => name === 'ratelimit_degraded')?.value;

  const seen = [await degraded()];
  isAway = false;
  seen.push(await degraded());

  expect(seen).toEqual([1, 0]);
});

test('the metrics count a broken chain', async () => {
  const { service, acme, db } = await startSandbox();
  await registerAgent(acme);
  await db.updateTable('auditHeads').set({ seq: '99' }).where('developerId', '=', acme.developerId).execute();

  const { valid } = (await acme('GET', '/v1/audit/verify')).json();
  const afterVerification = await samplesOf(service);
  const { chainIntegrity } = (await acme('GET', '/v1/compliance/evidence-pack')).json();
  const afterPack = await samplesOf(service);

  expect([valid, chainIntegrity.valid]).toEqual([false, false]);
  expect(afterVerification).toContainEqual({ name: 'audit_chain_broken', labels: {}, value: 1 });
  expect(afterPack).toContainEqual({ name: 'audit_chain_broken', labels: {}, value: 2 });
});

test('the metrics show the state of the connection pool', async () => {
  const { service } = await startSandbox();

  const samples = await samplesOf(service);

  const ofPool = samples.filter(({ name }) => name.startsWith('postgres_pool'));
  expect(ofPool.map(({ name }) => name)).toEqual([
    'postgres_pool_connections',
    'postgres_pool_connections',
    'postgres_pool_waiting',
  ]);
  expect(ofPool.reduce((sum, { value }) => sum + value, 0)).toBeGreaterThan(0);
});

test('every request for a credential is counted by the class of its status, refused tokens too', async () => {
  const { service, acme } = await startSandbox();
  const { grantToken } = await grantTo(acme, { scopes: ['github:read'] });
  await acme('POST', '/v1/vault/credentials', {
    principalId: 'user_42',
    service: 'github',
    accessToken: 'a',
  });
  const exchange = (token: string) =>
    service.calling(token)('POST', '/v1/vault/credentials/exchange', { service: 'github' });

  const codes = [(await exchange(grantToken)).statusCode, (await exchange('x')).statusCode];

  expect(codes).toEqual([200, 401]);
  const counted = (await samplesOf(service)).filter(({ name }) => name === 'vault_exchange_total');
  expect(counted).toEqual([
    { name: 'vault_exchange_total', labels: { status: '2xx' }, value: 1 },
    { name: 'vault_exchange_total', labels: { status: '4xx' }, value: 1 },
  ]);
});
