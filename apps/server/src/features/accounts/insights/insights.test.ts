import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { grantTo, refusalOf, sharedSandbox, startSandbox } from '../../../../test/app/flow.ts';
import type { Developer } from '../../../../test/app/start-app.ts';
import { createActivityBuffer, deleteOldActivity } from './read.ts';

const sandbox = sharedSandbox();
const hours = 'from=2026-01-01T00:00:00Z&to=2026-01-01T02:00:00Z';
const seriesOf = async (acme: Developer, metric: string, span = hours) =>
  (await acme('GET', `/v1/insights/series?metric=${metric}&${span}`)).json();
const countsOf = async (acme: Developer, metric: string, span = hours) =>
  (await seriesOf(acme, metric, span)).points.map(({ count }: { count: number | null }) => count);

describe('GET /v1/insights/series', () => {
  test('counts each metric by hour, as soon as it happened, and tells a zero from what is not known', async () => {
    const { acme, advance } = await startSandbox();
    await acme('PUT', '/v1/manifests/crm', { $schema: 'x', connector: 'crm', tools: { lookup: 'read' } });
    const { grantId, grantToken } = await grantTo(acme, { scopes: ['tool:crm:read'] });
    await grantTo(acme);
    await acme('POST', '/v1/tokens/verify', { token: grantToken });
    const call = { grantToken, connector: 'crm', arguments: {} };
    await acme('POST', '/v1/enforce', { ...call, tool: 'lookup' });
    await acme('POST', '/v1/enforce', { ...call, tool: 'purge' });
    await acme('POST', '/v1/enforce', { ...call, tool: 'purge', reserve: false });
    advance(3600);
    await acme('DELETE', `/v1/grants/${grantId}`);

    expect(await seriesOf(acme, 'grants')).toEqual({
      metric: 'grants',
      step: 'hour',
      from: '2026-01-01T00:00:00Z',
      to: '2026-01-01T02:00:00Z',
      points: [
        { at: '2026-01-01T00:00:00.000Z', count: 2 },
        { at: '2026-01-01T01:00:00.000Z', count: 0 },
      ],
      total: 2,
      complete: true,
    });
    expect(await countsOf(acme, 'revocations')).toEqual([0, 1]);
    expect(await countsOf(acme, 'verifications')).toEqual([1, 0]);
    expect(await countsOf(acme, 'denials')).toEqual([1, 0]);
    expect(await countsOf(acme, 'decisions')).toEqual([0, 0]);
    const later = 'from=2026-01-01T01:00:00Z&to=2026-01-01T03:00:00Z';
    expect(await seriesOf(acme, 'grants', later)).toMatchObject({
      points: [{ count: 0 }, { at: '2026-01-01T02:00:00.000Z', count: null }],
      complete: false,
    });
    const days = 'from=2025-12-31T12:00:00Z&to=2026-01-01T12:00:00Z&step=day';
    expect((await seriesOf(acme, 'grants', days)).points).toEqual([
      { at: '2025-12-31T00:00:00.000Z', count: 0 },
      { at: '2026-01-01T00:00:00.000Z', count: 2 },
    ]);
  });

  test('has no number for the time before counting began, and none after its counts are deleted', async () => {
    const { acme, db, clock, advance } = await startSandbox();
    await grantTo(acme);
    expect(await countsOf(acme, 'grants')).toEqual([1, null]);
    await sql`insert into activity_starts values (${acme.developerId}, '2026-01-01T00:30:00Z')`.execute(db);
    advance(3600);
    expect(await countsOf(acme, 'grants')).toEqual([null, 0]);

    const rows = async () =>
      (await sql`select from activity_counts where metric = 'grants'`.execute(db)).rows;
    advance(89 * 86_400);
    await deleteOldActivity({ db, clock }, AbortSignal.any([]));
    expect(await rows()).not.toEqual([]);
    advance(2 * 86_400);
    await deleteOldActivity({ db, clock }, AbortSignal.any([]));
    expect(await rows()).toEqual([]);
    expect(await countsOf(acme, 'grants')).toEqual([null, null]);
  });

  test('has at most 400 points', async () => {
    const { acme } = await sandbox();
    const status = async (query: string) =>
      (await acme('GET', `/v1/insights/series?metric=grants&from=2026-01-01T00:00:00Z&${query}`)).statusCode;

    expect(await status('to=2026-01-17T16:00:00Z')).toBe(200);
    expect(await status('to=2026-01-17T16:00:01Z')).toBe(400);
    expect(await status('to=2026-12-01T00:00:00Z&step=day')).toBe(200);
    expect(await status('to=2026-01-01T00:00:00Z')).toBe(400);
    expect(await status('to=2026-01-02T00:00:00Z&step=minute')).toBe(400);
    expect((await acme('GET', `/v1/insights/series?metric=money&${hours}`)).statusCode).toBe(400);
  });

  test('needs a full key, and counts no other account', async () => {
    const { acme, calling, service } = await sandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    await grantTo(acme);

    expect(refusalOf(await calling('no')('GET', `/v1/insights/series?metric=grants&${hours}`))).toBe(
      '401 UNAUTHORIZED',
    );
    expect((await seriesOf(other, 'grants')).total).toBe(0);
    expect((await seriesOf(acme, 'grants')).total).toBe(1);
  });
});

test('counts that could not be written wait for the next time', async () => {
  const { acme, service } = await sandbox();
  const { count, flush } = createActivityBuffer(service);
  count(acme, 'verifications');
  await sql`alter table activity_counts rename to activity_away`.execute(service.db);
  await expect(flush()).rejects.toThrow();
  await sql`alter table activity_away rename to activity_counts`.execute(service.db);
  count(acme, 'verifications');
  await flush();

  expect((await seriesOf(acme, 'verifications')).total).toBe(2);
});
