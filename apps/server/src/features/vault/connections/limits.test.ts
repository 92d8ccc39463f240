import { describe, expect, test } from 'vitest';
import { askToConnect, browserOf } from '../../../../test/app/connecting.ts';
import { possessionsOf } from '../../../../test/app/every-route.ts';
import { grantTo, refusalOf, sharedSandbox, startSandbox } from '../../../../test/app/flow.ts';
import type { Developer } from '../../../../test/app/start-app.ts';
import { listDueSessionsAcrossTenants } from './connections.repo.ts';

const sandbox = sharedSandbox();

/** A developer with a provider of `files`, which needs no upstream until somebody comes back from it. */
async function withProvider<Started extends { readonly acme: Developer }>(started: Started) {
  await possessionsOf(started.acme);
  const statusOf = async (id: string) =>
    (await started.acme('GET', `/v1/vault/connect-sessions/${id}`)).json().status;
  return { ...started, statusOf };
}

describe('a connect session', () => {
  test.each([
    ['59s', 400],
    ['60s', 201],
    ['24h', 201],
    ['86401s', 400],
  ])('is open for a minute to a day: %s is %i', async (expiresIn, status) => {
    const { acme } = await withProvider(await sandbox());
    const asked = { service: 'files', principalId: 'user_43', expiresIn };

    expect((await acme('POST', '/v1/vault/connect-sessions', asked)).statusCode).toBe(status);
  });

  test('is the tenth that waits for a person and a service at most, or the oldest ends', async () => {
    const { acme, statusOf, advance } = await withProvider(await startSandbox());
    const ids: string[] = [];
    for (let n = 0; n < 11; n += 1) {
      ids.push((await askToConnect(acme, { principalId: 'user_43' })).id);
      advance(1);
    }

    const statuses = [];
    for (const id of ids) statuses.push(await statusOf(id));

    expect(statuses).toEqual(['cancelled', ...Array(10).fill('pending')]);
  });

  test('stays when a person has begun it and an agent asks for ten more', async () => {
    const { acme, app, service, statusOf, advance } = await withProvider(await startSandbox());
    const begun = await askToConnect(acme);
    const waiting = await askToConnect(acme);
    const browser = browserOf(service);
    await browser.open(begun);
    await browser.start(begun.id);
    const { grantToken } = await grantTo(acme, { scopes: ['files:read'] });
    const ids: string[] = [];
    for (let n = 0; n < 11; n += 1) {
      advance(1);
      const request = {
        method: 'POST',
        url: '/v1/vault/credentials/connect',
        body: { service: 'files' },
      } as const;
      const answer = await app.inject({ ...request, headers: { authorization: `Bearer ${grantToken}` } });
      ids.push(answer.json().id);
    }

    const [oldest = '', second = ''] = ids;
    const statuses = [begun.id, waiting.id, oldest, second].map(statusOf);
    expect(await Promise.all(statuses)).toEqual(['started', 'pending', 'cancelled', 'pending']);
  });

  test('is started five times at most', async () => {
    const { acme, service } = await withProvider(await sandbox());
    const session = await askToConnect(acme, { principalId: 'user_43' });
    const browser = browserOf(service);
    await browser.open(session);
    const statuses = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await browser.start(session.id)).statusCode);

    expect(statuses).toEqual(Array(5).fill(200));
    expect(refusalOf(await browser.start(session.id))).toMatch(/^410 GONE/);
  });

  test('is opened by nobody once it was cancelled', async () => {
    const { acme, service } = await withProvider(await sandbox());
    const session = await askToConnect(acme, { principalId: 'user_43' });
    const first = await browserOf(service).open(session);

    await acme('DELETE', `/v1/vault/connect-sessions/${session.id}`);

    const later = await browserOf(service).open(session);
    expect([first.statusCode, refusalOf(later)]).toEqual([200, '404 NOT_FOUND']);
  });

  test('keeps no tokens that came back once it has ended', async () => {
    const { acme, db } = await withProvider(await sandbox());
    const { id } = await askToConnect(acme, { principalId: 'user_43' });
    await db
      .updateTable('connectSessions')
      .set({ tokens: 'sealed', dataKey: 'k' })
      .where('id', '=', id)
      .execute();

    await acme('DELETE', `/v1/vault/connect-sessions/${id}`);

    const row = db.selectFrom('connectSessions').select(['tokens', 'dataKey']).where('id', '=', id);
    expect(await row.executeTakeFirst()).toEqual({ tokens: null, dataKey: null });
  });

  test('ends with its provider, and then keeps no tokens that came back', async () => {
    const { acme, db, statusOf } = await withProvider(await sandbox());
    const { id } = await askToConnect(acme, { principalId: 'user_43' });
    const came = { status: 'returned', tokens: 'sealed', dataKey: 'k' } as const;
    await db.updateTable('connectSessions').set(came).where('id', '=', id).execute();
    const { providers } = (await acme('GET', '/v1/vault/providers')).json();

    for (const provider of providers) await acme('DELETE', `/v1/vault/providers/${provider.id}`);

    const row = db.selectFrom('connectSessions').select(['tokens', 'dataKey']).where('id', '=', id);
    expect([await statusOf(id), await row.executeTakeFirst()]).toEqual([
      'cancelled',
      { tokens: null, dataKey: null },
    ]);
  });

  test.each([
    [1, 'pending', 0],
    [0, 'expired', 1],
  ])('%i ms before its end is %s', async (milliseconds, status, due) => {
    const { acme, db, clock, statusOf } = await withProvider(await sandbox());
    const { id } = await askToConnect(acme, { principalId: 'user_43' });
    const expiresAt = new Date(clock().getTime() + milliseconds);
    await db.updateTable('connectSessions').set({ expiresAt }).where('id', '=', id).execute();

    expect(await statusOf(id)).toBe(status);
    const listed = await listDueSessionsAcrossTenants(db, clock(), 1000);
    expect(listed.filter((row) => row.id === id)).toHaveLength(due);
  });
});
