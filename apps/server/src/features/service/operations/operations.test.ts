import { describe, expect, test } from 'vitest';
import { startApp } from '../../../../test/app/start-app.ts';
import { openDatabase } from '../../../platform/db/open-database.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';

const noDatabase = () => openDatabase({ connectionString: 'postgres://nobody:x@127.0.0.1:1/nothing' });
const noStore = (store: EphemeralStore): EphemeralStore => ({
  ...store,
  ping: () => Promise.reject(new Error('redis://user:secret@host is away')),
});

describe('P2: health', () => {
  test('is ok while both dependencies answer, without details', async () => {
    const { app } = await startApp();

    const { statusCode, body, headers } = await app.inject({ url: '/health' });

    expect([statusCode, body]).toEqual([200, '{"status":"ok"}']);
    expect(headers['x-ratelimit-limit']).toBeDefined();
  });

  test.each([
    ['db', { dbAs: noDatabase }, '{"status":"degraded","failing":["db"]}'],
    ['redis', { storeAs: noStore }, '{"status":"degraded","failing":["redis"]}'],
    ['both', { dbAs: noDatabase, storeAs: noStore }, '{"status":"degraded","failing":["db","redis"]}'],
  ])('without %s names the dependency, and no reason', async (_, options, expected) => {
    const { app } = await startApp(options);

    const { statusCode, body, headers } = await app.inject({ url: '/health' });

    expect([statusCode, body]).toEqual([503, expected]);
    expect(headers).not.toHaveProperty('retry-after');
  });

  test('waits two seconds for both answers at once', async () => {
    const hanging = () => new Promise<never>(() => {});
    const { app } = await startApp({
      storeAs: (store) => ({ ...store, ping: hanging }),
    });

    const startedAt = performance.now();
    const { statusCode, json } = await app.inject({ url: '/health' });

    expect([statusCode, json()]).toEqual([503, { status: 'degraded', failing: ['redis'] }]);
    expect(performance.now() - startedAt).toBeLessThan(3500);
  });

  test('is ok again when a dependency returns', async () => {
    let isAway = true;
    const { app } = await startApp({
      storeAs: (store) => ({
        ...store,
        ping: () => (isAway ? Promise.reject(new Error('away')) : store.ping()),
      }),
    });

    const statuses = [(await app.inject({ url: '/health' })).statusCode];
    isAway = false;
    statuses.push((await app.inject({ url: '/health' })).statusCode);

    expect(statuses).toEqual([503, 200]);
  });

  test('needs no credential, and ignores an invalid credential', async () => {
    const { app } = await startApp();

    const { statusCode } = await app.inject({
      url: '/health',
      headers: { authorization: 'Bearer nonsense' },
    });

    expect(statusCode).toBe(200);
  });
});

test('a process is alive whatever is away, and asks no dependency', async () => {
  const { app } = await startApp({ dbAs: noDatabase, storeAs: noStore });

  const { statusCode, body } = await app.inject({ url: '/livez' });

  expect([statusCode, body]).toEqual([200, '{"status":"ok"}']);
});

test('without Redis, routes that need only the database work, and flows that need Redis do not', async () => {
  const { asDeveloper, app } = await startApp({ env: { REDIS_URL: 'redis://127.0.0.1:1' } });
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { agentId } = (await acme('POST', '/v1/agents', { name: 'a' })).json();

  const refused = await acme('POST', '/v1/authorize', { agentId, principalId: 'u', scopes: ['a:b'] });

  expect(refused.statusCode).toBe(503);
  expect(refused.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { dependency: 'redis' } });
  expect((await acme('GET', '/v1/agents')).json().agents).toHaveLength(1);
  expect((await app.inject({ url: '/health' })).json()).toEqual({ status: 'degraded', failing: ['redis'] });
});

test('without a database every route that needs it answers 503', async () => {
  const { app, routes } = await startApp({ dbAs: noDatabase });
  const headers = { authorization: 'Bearer bh_live_x' };

  for (const { method, url, config } of routes) {
    if (config?.access !== 'developer') continue;
    const { statusCode } = await app.inject({
      method: method as 'GET',
      url: url.replace(':id', 'x'),
      headers,
    });
    expect([url, statusCode]).toEqual([url, 503]);
  }
});
