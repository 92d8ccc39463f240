import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { registerAgent } from '../../../../test/app/flow.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import type { EphemeralStore } from '../../redis/ephemeral-store.ts';
import { subjectOf } from './rates.ts';

/** The product's limits, except for the given ones, in a store that no other test uses. */
const startCounting = (env: Record<string, string> = {}, options: Parameters<typeof startApp>[0] = {}) =>
  startApp({ realLimits: true, store: 'memory', env, ...options });

const request = { principalId: 'user_42', scopes: ['calendar:read'] };

/** The number of calls that are answered before the first refusal. */
async function admittedBefore(call: () => Promise<{ statusCode: number }>): Promise<number> {
  for (let times = 0; times < 50; times += 1) if ((await call()).statusCode === 429) return times;
  return Number.POSITIVE_INFINITY;
}

describe('the limits of the product', () => {
  test.each([
    ['default', 'GET', '/livez', '5000'],
    ['plan', 'GET', '/v1/agents', '100'],
    ['authorize', 'POST', '/v1/authorize', '10'],
    ['token', 'POST', '/v1/token', '20'],
    ['refresh', 'POST', '/v1/token/refresh', '20'],
    ['keys', 'POST', '/v1/keys', '5'],
    ['auditLog', 'POST', '/v1/audit/log', '30'],
    ['auditVerify', 'GET', '/v1/audit/verify', '10'],
    ['signup', 'POST', '/v1/signup', '30'],
    ['consent', 'GET', '/v1/consent/areq_1', '120'],
    ['statusList', 'GET', '/v1/credentials/status/vcsl_1', '60'],
    ['statusList', 'GET', '/v1/status-lists/vcsl_1', '60'],
    ['didResolve', 'GET', '/v1/dids/did:web:auth.test', '60'],
    ['credentialVerify', 'POST', '/v1/credentials/verify', '30'],
    ['credentialVerify', 'POST', '/v1/credentials/present', '30'],
    ['credentialVerify', 'POST', '/v1/passports/verify', '30'],
  ] as const)('%s at %s %s is %4$s a minute', async (_, method, url, limit) => {
    const { app, asDeveloper } = await startCounting();
    const { apiKey } = await asDeveloper();
    const headers = url.startsWith('/v1/consent') ? {} : { authorization: `Bearer ${apiKey}` };

    const answer = await app.inject({ method, url, headers });

    const used = url === '/v1/signup' ? 2 : 1; // the sign-up of the developer counts
    expect(answer.headers).toMatchObject({
      'x-ratelimit-limit': limit,
      'x-ratelimit-remaining': String(Number(limit) - used),
      'x-ratelimit-reset': '1767225660',
    });
  });

  test('count sign-ups by the minute and by the hour', async () => {
    const { app, advance } = await startCounting({ RATE_LIMIT_SIGNUP: '4', RATE_LIMIT_SIGNUP_HOURLY: '6' });
    const signUp = () => app.inject({ method: 'POST', url: '/v1/signup', body: { name: 'Acme' } });

    expect(await admittedBefore(signUp)).toBe(4);
    advance(60);
    expect(await admittedBefore(signUp)).toBe(2);
    const refused = await signUp();
    expect(refused.json().details).toEqual({
      rule: 'signupHourly',
      limit: 6,
      windowSeconds: 3600,
      retryAfter: 3540,
    });
    expect(refused.headers).toMatchObject({ 'retry-after': '3540', 'x-ratelimit-reset': '1767229200' });
    advance(3539);
    expect((await signUp()).headers['retry-after']).toBe('1');
    advance(1);
    expect((await signUp()).headers).toMatchObject({
      'x-ratelimit-limit': '4',
      'x-ratelimit-remaining': '3',
    });
  });

  test('allow 60 sign-ups an hour', async () => {
    const { app, advance } = await startCounting();
    const signUp = () => app.inject({ method: 'POST', url: '/v1/signup', body: { name: 'Acme' } });

    expect(await admittedBefore(signUp)).toBe(30);
    advance(60);
    expect(await admittedBefore(signUp)).toBe(30);
    advance(60);
    expect((await signUp()).json().details).toMatchObject({ rule: 'signupHourly', limit: 60 });
  });

  test.each([
    ['free', '100'],
    ['pro', '500'],
    ['enterprise', '2000'],
  ])('on plan %s are %s calls', async (plan, limit) => {
    const { asDeveloper } = await startCounting({ DEFAULT_PLAN: plan });
    const acme = await asDeveloper();

    expect((await acme('GET', '/v1/me')).headers['x-ratelimit-limit']).toBe(limit);
  });
});

test('the headers show the budget that runs out first, whether the key was known or not', async () => {
  const { asDeveloper } = await startCounting({ RATE_LIMIT_DEFAULT: '9' });
  const acme = await asDeveloper();
  const shown = async () => {
    const { headers } = await acme('GET', '/v1/agents');
    return [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']];
  };

  expect(await shown()).toEqual(['9', '8']);
  expect(await shown()).toEqual(['9', '7']);
});

describe('one request too many', () => {
  test('I12: is refused with everything a client needs, and is let through in the next minute', async () => {
    const { advance, asDeveloper } = await startCounting(
      { RATE_LIMIT_PLAN_FREE: '2' },
      { startsAt: '2026-01-01T00:00:22.500Z' },
    );
    const [acme, other] = [await asDeveloper(), await asDeveloper()];
    const inTime = [await acme('GET', '/v1/agents'), await acme('GET', '/v1/agents')];

    const refused = await acme('GET', '/v1/agents');

    expect(inTime.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(inTime.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['1', '0']);
    expect(refused.statusCode).toBe(429);
    expect(refused.headers).toMatchObject({
      'retry-after': '38',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1767225660',
    });
    expect(refused.json()).toEqual({
      code: 'RATE_LIMITED',
      message: 'Rate limit exceeded, retry in 38 seconds',
      requestId: refused.headers['x-request-id'],
      details: { rule: 'plan', limit: 2, windowSeconds: 60, retryAfter: 38 },
    });
    expect((await other('GET', '/v1/agents')).statusCode).toBe(200);

    advance(37);
    expect((await acme('GET', '/v1/agents')).headers['retry-after']).toBe('1');
    advance(1);
    expect((await acme('GET', '/v1/agents')).statusCode).toBe(200);
  });

  test('I12: changes nothing', async () => {
    const { advance, asDeveloper } = await startCounting({ RATE_LIMIT_PLAN_FREE: '2' });
    const acme = await asDeveloper();
    await acme('POST', '/v1/agents', { name: 'one' });
    await acme('POST', '/v1/agents', { name: 'two' });

    const refused = await acme('POST', '/v1/agents', { name: 'three' });
    advance(60);

    expect(refused.statusCode).toBe(429);
    expect((await acme('GET', '/v1/agents')).json().agents).toHaveLength(2);
  });

  test('I12: by one count of the developer leaves the other as it was', async () => {
    const { advance, asDeveloper } = await startCounting({
      RATE_LIMIT_PLAN_FREE: '4',
      RATE_LIMIT_AUTHORIZE: '2',
    });
    const acme = await asDeveloper();
    const { agentId } = await registerAgent(acme);
    const ask = () => acme('POST', '/v1/authorize', { agentId, ...request });
    const look = () => acme('GET', '/v1/agents');

    expect(await admittedBefore(ask)).toBe(2);
    expect((await ask()).json().details).toMatchObject({ rule: 'authorize', limit: 2 });
    expect(await admittedBefore(look)).toBe(1); // the plan has four: one registered and two asked

    advance(60);
    expect(await admittedBefore(look)).toBe(4);
    expect((await ask()).json().details).toMatchObject({ rule: 'plan', limit: 4 });
    advance(60);
    expect(await admittedBefore(ask)).toBe(2); // the plan's refusal took none
  });

  test('is still counted for the address that it came from', async () => {
    const { asDeveloper } = await startCounting({ RATE_LIMIT_DEFAULT: '5', RATE_LIMIT_PLAN_FREE: '2' });
    const acme = await asDeveloper();
    const rules: string[] = [];

    for (let call = 0; call < 6; call += 1) {
      const answer = await acme('GET', '/v1/agents');
      rules.push(answer.statusCode === 429 ? answer.json().details.rule : 'admitted');
    }

    expect(rules).toEqual(['admitted', 'admitted', 'plan', 'plan', 'plan', 'default']);
  });
});

describe('a bad credential', () => {
  const failing = (app: Service['app'], headers: object) =>
    app.inject({ method: 'POST', url: '/v1/authorize', headers: { authorization: 'Bearer x', ...headers } });

  test('T1: counts against the address where good ones count against the developer', async () => {
    const { app, asDeveloper, advance } = await startCounting({ RATE_LIMIT_DEFAULT: '3' });
    const acme = await asDeveloper();

    expect(await admittedBefore(() => failing(app, {}))).toBe(3);
    const refused = await acme('POST', '/v1/authorize', {});
    expect(refused.statusCode).toBe(429);
    expect(refused.json().details).toMatchObject({ rule: 'default', limit: 3 });

    advance(60);
    expect((await acme('POST', '/v1/authorize', {})).statusCode).toBe(400);
  });

  test.each([
    ['no key', {}],
    ['a wrong key', { authorization: 'Bearer x' }],
  ])('T1: is one request of the address: %s', async (_, headers) => {
    const { app, advance } = await startCounting({ RATE_LIMIT_DEFAULT: '3' });

    expect(await admittedBefore(() => app.inject({ url: '/v1/agents', headers }))).toBe(3);
    advance(60);
    expect(await admittedBefore(() => app.inject({ method: 'POST', url: '/v1/authorize', headers }))).toBe(3);
  });

  test('T1: alone counts there, and good ones leave the address its room', async () => {
    const { app, asDeveloper } = await startCounting({ RATE_LIMIT_DEFAULT: '3' });
    const acme = await asDeveloper();

    for (let call = 0; call < 6; call += 1) await acme('POST', '/v1/authorize', {});

    expect((await app.inject({ url: '/livez' })).headers['x-ratelimit-remaining']).toBe('2');
  });
});

describe('an address', () => {
  const callingFrom = (app: Service['app']) => (remoteAddress: string, forwarded?: string) =>
    app.inject({
      url: '/livez',
      remoteAddress,
      headers: forwarded
        ? {
            'x-forwarded-for': forwarded,
            'x-real-ip': forwarded,
            forwarded: `for=${forwarded}`,
            'cf-connecting-ip': forwarded,
          }
        : {},
    });

  test('is counted as its network', () => {
    const subjects = [
      '203.0.113.7',
      '2001:db8:1:2:3::4',
      '2001:db8:1:2::9',
      '2001:db8::9',
      '::1',
      'unknown',
    ].map(subjectOf);

    expect(subjects).toEqual([
      '203.0.113.7',
      '2001:db8:1:2',
      '2001:db8:1:2',
      '2001:db8:0:0',
      '0:0:0:0',
      'unknown',
    ]);
  });

  test('shares its limit with its IPv6 network, and with no other', async () => {
    const { app } = await startCounting({ RATE_LIMIT_DEFAULT: '2' });
    const from = callingFrom(app);

    const statuses = [];
    for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:2::3', '2001:db8:1:3::1'])
      statuses.push((await from(address)).statusCode);

    expect(statuses).toEqual([200, 200, 429, 200]);
  });

  test('I10: cannot be chosen by the client when no proxy is trusted', async () => {
    const { app } = await startCounting({ RATE_LIMIT_DEFAULT: '3' });
    const from = callingFrom(app);
    let call = 0;

    expect(await admittedBefore(() => from('203.0.113.7', `198.51.100.${++call}`))).toBe(3);
  });

  test.each([
    ['1', 'a, b, 198.51.100.1', 'x, y, 198.51.100.1', 'a, b, 198.51.100.2'],
    ['2', 'a, 198.51.100.1, 10.0.0.9', 'x, 198.51.100.1, 10.0.0.8', 'a, 198.51.100.2, 10.0.0.9'],
    ['10.0.0.0/8,127.0.0.1', 'a, 198.51.100.1, 10.9.9.9', 'x, 198.51.100.1', 'a, 198.51.100.2, 10.9.9.9'],
  ])(
    'I10: behind proxies (%s) is the one that the last trusted proxy saw',
    async (trust, one, same, other) => {
      const { app } = await startCounting({ RATE_LIMIT_DEFAULT: '2', TRUST_PROXY: trust });
      const from = callingFrom(app);

      const statuses = [];
      for (const forwarded of [one, same, one, other])
        statuses.push((await from('10.0.0.1', forwarded)).statusCode);

      expect(statuses).toEqual([200, 200, 429, 200]);
    },
  );

  test('I10: is that of the proxy when the proxy is not on the list', async () => {
    const { app } = await startCounting({ RATE_LIMIT_DEFAULT: '3', TRUST_PROXY: '10.0.0.0/8' });
    const from = callingFrom(app);
    let call = 0;

    expect(await admittedBefore(() => from('203.0.113.7', `198.51.100.${++call}`))).toBe(3);
  });
});

describe('counts that an instance leases from Redis', () => {
  async function startLeasing() {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] }); // so that no lease ends
    onTestFinished(() => void vi.useRealTimers());
    const env = { RATE_LIMIT_PLAN_FREE: '200' };
    const [one, two] = [await startApp({ env }), await startApp({ env })];
    const here = await one.asDeveloper();
    const there = two.calling(here.apiKey);
    for (let use = 0; use < 2; use += 1) for (const call of [here, there]) await call('GET', '/v1/agents');
    const leased = /cache_lookups_total{cache="rate_leases",result="hit"} (\d+)/;
    const leasedAt = async ({ app }: Service) =>
      Number(leased.exec((await app.inject('/metrics')).body)?.[1]);
    return { one, here, there, leasedAt };
  }

  test('are in the headers as requests that are left to it, one by one', async () => {
    const { one, here, leasedAt } = await startLeasing();

    const left: number[] = [];
    for (let use = 0; use < 50; use += 1)
      left.push(Number((await here('GET', '/v1/agents')).headers['x-ratelimit-remaining']));

    expect(left).toEqual(Array.from({ length: 50 }, (_, at) => 195 - at));
    expect(await leasedAt(one)).toBeGreaterThan(30);
  });

  test('let two instances together admit what the limit allows, and no request more', async () => {
    const { here, there } = await startLeasing();

    const statuses: number[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      const crowd = Array.from({ length: 24 }, (_, at) => (at % 2 ? here : there)('GET', '/v1/agents'));
      for (const { statusCode } of await Promise.all(crowd)) statuses.push(statusCode);
    }

    const admitted = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(admitted).toBeLessThanOrEqual(196);
    expect(admitted).toBeGreaterThan(196 - 2 * 9); // each may hold nine that the other lacks
  });
});

test('I11: all methods, spellings and queries of a path share one limit', async () => {
  const { app, asDeveloper } = await startCounting({ RATE_LIMIT_PLAN_FREE: '4' });
  const { apiKey } = await asDeveloper();
  const headers = { authorization: `Bearer ${apiKey}` };

  const statuses = [];
  for (const [method, url] of [
    ['GET', '/v1/agents'],
    ['HEAD', '/v1/agents'],
    ['GET', '/v1/%61gents'],
    ['GET', '/v1/agents?limit=1'],
    ['HEAD', '/v1/agents?x'],
  ] as const)
    statuses.push((await app.inject({ method, url, headers })).statusCode);

  expect(statuses).toEqual([200, 200, 200, 200, 429]);
});

test('I11: all keys of a developer share one limit', async () => {
  const { asDeveloper } = await startCounting({ RATE_LIMIT_PLAN_FREE: '4' });
  const acme = await asDeveloper();
  const runtime = await acme.asRuntime();
  await runtime('GET', '/v1/agents');
  await acme('GET', '/v1/agents');
  await runtime('GET', '/v1/agents');

  expect((await runtime('GET', '/v1/agents')).statusCode).toBe(429);
  expect((await acme('GET', '/v1/agents')).statusCode).toBe(429);
});

test('I11: signing up is limited for each address by itself', async () => {
  const { app } = await startCounting({ RATE_LIMIT_SIGNUP: '3' });
  const signUp = (remoteAddress: string) =>
    app.inject({ method: 'POST', url: '/v1/signup', remoteAddress, body: { name: 'Acme' } });

  expect(await admittedBefore(() => signUp('203.0.113.7'))).toBe(3);
  expect((await signUp('203.0.113.8')).statusCode).toBe(201);
});

describe('the store of counters', () => {
  /** A store that can be away, and counts the calls that it gets. */
  function watched() {
    const seen = { isAway: false, spends: 0 };
    const storeAs = (store: EphemeralStore): EphemeralStore => ({
      ...store,
      charge: async (bills) => {
        seen.spends += 1;
        if (seen.isAway) throw new Error('It is away.');
        return store.charge(bills);
      },
    });
    return { seen, storeAs };
  }

  test('I12: keeps the same limits while it is away, counted by this process', async () => {
    const { seen, storeAs } = watched();
    const { app, asDeveloper, advance } = await startCounting(
      { RATE_LIMIT_PLAN_FREE: '3', RATE_LIMIT_SIGNUP: '2' },
      { storeAs },
    );
    const acme = await asDeveloper();
    await acme('GET', '/v1/agents');

    seen.isAway = true;
    expect(await admittedBefore(() => acme('GET', '/v1/agents'))).toBe(3);
    expect((await acme('GET', '/v1/agents')).headers).toMatchObject({
      'retry-after': '60',
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '0',
    });
    const signUp = () => app.inject({ method: 'POST', url: '/v1/signup', body: { name: 'Acme' } });
    expect(await admittedBefore(signUp)).toBe(2);

    seen.isAway = false; // its counts are as they were
    expect(await admittedBefore(() => acme('GET', '/v1/agents'))).toBe(2);
    seen.isAway = true;
    advance(60);
    expect((await acme('GET', '/v1/agents')).statusCode).toBe(200);
  });

  test.each([
    ['GET', '/.well-known/jwks.json', 0],
    ['GET', '/livez', 1],
    ['GET', '/v1/agents', 1],
    ['POST', '/v1/authorize', 1],
    ['GET', '/v1/consent/areq_1', 1],
  ] as const)('is asked for %s %s %i times', async (method, url, spends) => {
    const { seen, storeAs } = watched();
    const { app, asDeveloper } = await startCounting({}, { storeAs });
    const { apiKey } = await asDeveloper();
    const isConsent = url.startsWith('/v1/consent');
    const ask = () =>
      app.inject({ method, url, ...(!isConsent && { headers: { authorization: `Bearer ${apiKey}` } }) });
    for (let use = 0; use < 2; use += 1) await ask(); // the second use makes the key known

    seen.spends = 0;
    await ask();

    expect(seen.spends).toBe(spends);
  });

  test('counts for all instances that share a Redis', async () => {
    const startsAt = new Date(Date.UTC(2027, 0, 1) + Math.floor(Math.random() * 1e6) * 60_000).toISOString();
    const shared = { realLimits: true, startsAt, env: { RATE_LIMIT_DEFAULT: '4' } };
    const [one, other] = [await startApp(shared), await startApp(shared)];

    const statuses = [];
    for (const { app } of [one, other, one, other, one, other])
      statuses.push((await app.inject({ url: '/livez' })).statusCode);

    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
  });
});
