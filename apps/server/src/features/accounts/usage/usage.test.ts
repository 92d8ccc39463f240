import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import {
  authorize,
  grantTo,
  openSession,
  refusalOf,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { onThisMachine, proxied, through } from '../../../../test/app/proxy.ts';
import { type Developer, newDatabase, startApp } from '../../../../test/app/start-app.ts';
import { createUsageBuffer, deleteOldUsage } from './read.ts';

const sandbox = sharedSandbox();
const usageOf = async (acme: Developer) => (await acme('GET', '/v1/usage')).json();
const historyOf = async (acme: Developer, query = '') =>
  (await acme('GET', `/v1/usage/history${query}`)).json();
const waiting = sql`select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;
const often = { timeout: 10_000, interval: 5 };
const none = { tokenExchanges: 0, authorizations: 0, verifications: 0, totalRequests: 0 };

describe('the usage of today', () => {
  test('is there at once, with the month and the limits of the plan', async () => {
    const { acme } = await sandbox();
    const before = await usageOf(acme);
    const { grantToken } = await grantTo(acme);
    await acme('POST', '/v1/tokens/verify', { token: grantToken });
    await acme('POST', '/v1/tokens/introspect', { token: 'unknown' });
    await acme('POST', '/v1/grants/verify', { token: grantToken });

    const counts = { tokenExchanges: 1, authorizations: 1, verifications: 3, totalRequests: 5 };
    expect(before).toMatchObject(none);
    expect(await usageOf(acme)).toEqual({
      developerId: acme.developerId,
      period: '2026-01-01',
      ...counts,
      plan: 'free',
      limits: { tokenExchangesPerMonth: 50_000, authorizationsPerMonth: 50_000 },
      month: { period: '2026-01', ...counts },
    });
  });

  test('adds up what was written at several times', async () => {
    const { acme } = await sandbox();
    for (const each of [1, 2, 3]) {
      const { grantToken } = await grantTo(acme);
      await acme('POST', '/v1/tokens/verify', { token: grantToken });

      const counts = { tokenExchanges: each, authorizations: each, verifications: each };
      expect(await usageOf(acme)).toMatchObject({ ...counts, totalRequests: 3 * each });
    }
  });

  test('adds up every count of two writings on one day', async () => {
    const { acme, service } = await sandbox();
    const { count, flush } = createUsageBuffer(service);
    const kinds = ['authorizations', 'tokenExchanges', 'verifications', 'proxyCalls'] as const;
    for (const _ of [1, 2]) {
      for (const [place, kind] of kinds.entries()) {
        for (let each = 0; each <= place; each += 1) count(acme, kind);
      }
      await flush();
    }

    expect((await historyOf(acme)).entries).toMatchObject([
      { authorizations: 2, tokenExchanges: 4, verifications: 6, totalRequests: 12, proxyCalls: 8 },
    ]);
  });

  test('waits for a writing that is under way', async () => {
    const { acme, service } = await sandbox();
    const { count, flush } = createUsageBuffer(service);
    const order: string[] = [];

    count(acme, 'authorizations');
    const first = flush().then(() => order.push('first'));
    await Promise.all([first, flush().then(() => order.push('second'))]);

    expect(order).toEqual(['first', 'second']);
  });

  test('is written by two processes that never wait for each other in a circle', async () => {
    const { acme, service } = await sandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const [first, second] = [acme, other].sort((one, another) =>
      one.developerId < another.developerId ? -1 : 1,
    );
    if (!first || !second) throw new Error('There are two developers.');
    const [here, there] = [createUsageBuffer(service), createUsageBuffer(service)];
    const countAs = (buffer: typeof here, developers: Developer[]) => {
      for (const developer of developers) buffer.count(developer, 'authorizations');
    };
    countAs(here, [first, second]);
    await here.flush();
    countAs(here, [second, first]);
    countAs(there, [first, second]);

    const flushes = await service.db.transaction().execute(async (tx) => {
      await tx
        .selectFrom('usageDaily')
        .select('day')
        .where('developerId', '=', second.developerId)
        .forUpdate()
        .execute();
      const flushed = [];
      for (const [at, { flush }] of [here, there].entries()) {
        flushed.push(flush());
        await vi.waitUntil(async () => (await waiting.execute(service.db)).rows.length > at, often);
      }
      return flushed;
    });

    expect(await Promise.allSettled(flushes)).toMatchObject(Array(2).fill({ status: 'fulfilled' }));
  });

  test('leaves the days before today to the month', async () => {
    const { acme, advance } = await startSandbox();
    await grantTo(acme);
    advance(86_400);

    expect(await usageOf(acme)).toMatchObject({
      ...{ period: '2026-01-02', tokenExchanges: 0 },
      month: { period: '2026-01', tokenExchanges: 1 },
    });
  });

  test('counts no refusal, refresh, delegation or repeated answer', async () => {
    const { acme, app } = await sandbox();
    const { agentId, refreshToken, grantToken } = await grantTo(acme);
    await acme('POST', '/v1/token', { code: 'unknown', agentId });
    await acme('POST', '/v1/token/refresh', { refreshToken, agentId });
    await acme('POST', '/v1/tokens/verify', {});
    await acme('POST', '/v1/grants/verify', { token: 'unknown' });
    await acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['no scope'] });
    await acme('POST', '/v1/grants/delegate', {
      parentGrantToken: grantToken,
      subAgentId: agentId,
      scopes: ['calendar:read'],
    });
    const headers = { authorization: `Bearer ${acme.apiKey}`, 'idempotency-key': 'once' };
    const repeated = { method: 'POST', url: '/v1/tokens/verify', headers, body: { token: 'x' } } as const;
    await app.inject(repeated);
    await app.inject(repeated);

    expect(await usageOf(acme)).toMatchObject({ tokenExchanges: 1, authorizations: 1, verifications: 1 });
  });

  test('has no limits where the plan has none', async () => {
    const { acme } = await startSandbox({ env: { DEFAULT_PLAN: 'enterprise' } });

    expect((await usageOf(acme)).limits).toEqual({
      tokenExchangesPerMonth: null,
      authorizationsPerMonth: null,
    });
  });
});

describe('GET /v1/usage/history', () => {
  test('lists the days with activity, the newest first', async () => {
    const { acme, advance, service } = await startSandbox({ startsAt: '2026-01-30T23:59:59Z' });
    const other = await service.asDeveloper({ mode: 'sandbox' });
    await grantTo(acme);
    advance(1);
    await acme('POST', '/v1/tokens/verify', { token: 'x' });
    advance(2 * 86_400);
    await acme('POST', '/v1/tokens/verify', { token: 'x' });

    expect(await historyOf(acme)).toEqual({
      developerId: acme.developerId,
      days: 30,
      entries: [
        { ...none, date: '2026-02-02', verifications: 1, totalRequests: 1 },
        { ...none, date: '2026-01-31', verifications: 1, totalRequests: 1 },
        { ...none, date: '2026-01-30', tokenExchanges: 1, authorizations: 1, totalRequests: 2 },
      ],
    });
    expect((await historyOf(acme, '?days=4')).entries).toHaveLength(3);
    expect((await historyOf(acme, '?days=3')).entries).toHaveLength(2);
    expect((await historyOf(acme, '?days=1')).entries).toHaveLength(1);
    expect((await usageOf(acme)).month).toMatchObject({ period: '2026-02', totalRequests: 1 });
    expect(await historyOf(other)).toMatchObject({ entries: [] });
  });

  test.each([
    ['', 30],
    ['?days=', 30],
    ['?days=abc', 30],
    ['?days=1.5', 30],
    ['?days=1e1', 30],
    ['?days=0x10', 30],
    ['?days=0', 1],
    ['?days=-1', 1],
    ['?days=7', 7],
    ['?days=90', 90],
    ['?days=91', 90],
    ['?days=1000', 90],
    ['?days=99999999999999999999', 90],
    ['?days=-99999999999999999999', 1],
  ])('answers 200 to %j, with %i days', async (query, days) => {
    const { acme } = await sandbox();

    const answer = await acme('GET', `/v1/usage/history${query}`);

    expect([answer.statusCode, answer.json().days]).toEqual([200, days]);
  });

  test('names the calls that an upstream answered, outside the sum, once there are any', async () => {
    const { acme, advance, service } = await startSandbox({ env: onThisMachine });
    const verify = () => acme('POST', '/v1/tokens/verify', { token: 'x' });
    await verify();
    advance(86_400);
    await verify();
    const before = await historyOf(acme);
    const { receiver, grantToken } = await proxied(acme);
    await through(service, grantToken, '/repos/a');
    receiver.answerStatus(404);
    await through(service, grantToken, '/repos/a', { method: 'POST' });
    await through(service, grantToken, '/elsewhere');
    receiver.server.close();
    receiver.server.closeAllConnections();
    expect(refusalOf(await through(service, grantToken, '/repos/a'))).toBe('502 UPSTREAM_ERROR connect');

    const sums = { authorizations: 1, tokenExchanges: 1, verifications: 1, totalRequests: 3 };
    expect(before.entries[0]).not.toHaveProperty('proxyCalls');
    expect((await historyOf(acme)).entries).toEqual([
      { date: '2026-01-02', ...sums, proxyCalls: 2 },
      { ...none, date: '2026-01-01', verifications: 1, totalRequests: 1, proxyCalls: 0 },
    ]);
    expect((await usageOf(acme)).totalRequests).toBe(3);
  });

  test('needs an API key', async () => {
    const { calling } = await sandbox();

    expect(refusalOf(await calling('no')('GET', '/v1/usage/history'))).toBe('401 UNAUTHORIZED');
  });
});

describe('the answers of GET /v1/usage/history', () => {
  test.each(['none', 'no', 'a grant token', 'a session'])(
    'Error: 401 with the credential %j, whatever `days` says',
    async (kind) => {
      const { acme, app, calling } = await sandbox();
      const { grantToken } = await grantTo(acme);
      const { sessionToken } = (await openSession(acme)).json();
      const tokens: Record<string, string> = { 'a grant token': grantToken, 'a session': sessionToken };
      const url = '/v1/usage/history?days=1';
      const answer =
        kind === 'none' ? await app.inject({ url }) : await calling(tokens[kind] ?? kind)('GET', url);

      expect(refusalOf(answer)).toBe('401 UNAUTHORIZED');
    },
  );

  test('Query `days`: 30 unless said, 90 at most, and the window ends with today', async () => {
    const { acme, advance } = await startSandbox({ startsAt: '2026-03-01T12:00:00Z' });
    const seen = async (query: string) => (await historyOf(acme, query)).entries.length;
    await acme('POST', '/v1/tokens/verify', { token: 'x' });

    const counts: Record<string, number[]> = {};
    for (const query of ['', '?days=90', '?days=1000']) counts[query] = [];
    for (const later of [29, 1, 59, 1]) {
      advance(later * 86_400); // 29, 30, 89 and 90 days after the request
      for (const query of Object.keys(counts)) counts[query]?.push(await seen(query));
    }

    expect(counts).toEqual({ '': [1, 0, 0, 0], '?days=90': [1, 1, 1, 0], '?days=1000': [1, 1, 1, 0] });
  });

  test('200 body: `developerId`, `days` and `entries`, whose sum is that of the three', async () => {
    const { acme } = await sandbox();
    await grantTo(acme);

    const body = await historyOf(acme);

    expect(Object.keys(body).sort()).toEqual(['days', 'developerId', 'entries']);
    expect([body.developerId, body.days]).toEqual([acme.developerId, 30]);
    for (const { date, tokenExchanges, authorizations, verifications, totalRequests } of body.entries) {
      expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(totalRequests).toBe(tokenExchanges + authorizations + verifications);
    }
    expect(body.entries).toHaveLength(1);
  });
});

describe('the monthly quotas', () => {
  test('are exact when calls come at once, leave a code as it was, and begin again with the month', async () => {
    const { acme, advance } = await startSandbox({
      env: { PLAN_FREE_AUTHORIZATIONS: '6', PLAN_FREE_TOKEN_EXCHANGES: '3' },
      startsAt: '2026-01-31T23:55:00Z',
    });
    const { agentId } = await registerAgent(acme);
    const body = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    const asked = await Promise.all(Array.from({ length: 9 }, () => acme('POST', '/v1/authorize', body)));
    const codes = asked.filter(({ statusCode }) => statusCode === 201).map((answer) => answer.json().code);
    const refused = asked.find(({ statusCode }) => statusCode === 402);
    const exchange = (code: string) => acme('POST', '/v1/token', { code, agentId });
    const exchanged = await Promise.all(codes.map(exchange));
    const left = codes.find((_, at) => exchanged[at]?.statusCode === 402);

    expect(codes).toHaveLength(6);
    expect(refused?.json()).toMatchObject({
      code: 'PLAN_LIMIT_EXCEEDED',
      details: { limit: 6, plan: 'free', resource: 'authorizations', current: 6 },
    });
    expect(exchanged.filter(({ statusCode }) => statusCode === 201)).toHaveLength(3);
    expect((await exchange(left)).json().details).toEqual({
      limit: 3,
      plan: 'free',
      resource: 'token_exchanges',
      current: 3,
    });
    advance(300);
    expect((await exchange(left)).statusCode).toBe(201);
    expect((await authorize(acme, agentId)).code).toBeTypeOf('string');
  });
});

test('counts that could not be written wait for the next time', async () => {
  const { acme, db } = await sandbox();
  await acme('POST', '/v1/tokens/verify', { token: 'x' });

  await sql`alter table usage_daily rename to usage_away`.execute(db);
  const meanwhile = await acme('POST', '/v1/tokens/verify', { token: 'x' });
  const failed = await acme('GET', '/v1/usage');
  await sql`alter table usage_away rename to usage_daily`.execute(db);

  expect([meanwhile.statusCode, failed.statusCode]).toEqual([200, 500]);
  expect(await usageOf(acme)).toMatchObject({ verifications: 2 });
});

test('counts are written when the service stops, and by its job after 400 days deleted', async () => {
  const databaseUrl = await newDatabase();
  const first = await startApp({ databaseUrl, isShared: true });
  const acme = await first.asDeveloper({ mode: 'sandbox' });
  await acme('POST', '/v1/tokens/verify', { token: 'x' });
  await first.stop();

  const { calling, db, clock } = await startApp({ databaseUrl });
  const read = async () => (await calling(acme.apiKey)('GET', '/v1/usage/history')).json().entries;
  expect(await read()).toMatchObject([{ verifications: 1 }]);

  const later = (days: number) => () => new Date(clock().getTime() + days * 86_400_000);
  await deleteOldUsage({ db, clock: later(399) }, AbortSignal.any([]));
  expect(await read()).toHaveLength(1);
  await deleteOldUsage({ db, clock: later(400) }, AbortSignal.any([]));
  expect(await read()).toEqual([]);
});
