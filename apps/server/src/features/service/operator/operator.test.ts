import { expect, test } from 'vitest';
import { refusalOf } from '../../../../test/app/flow.ts';
import { ADMIN_API_KEY, startApp } from '../../../../test/app/start-app.ts';

const CALLS = [
  ['GET', '/v1/admin/entries'],
  ['GET', '/v1/admin/keys'],
  ['POST', '/v1/admin/keys/rotate'],
  ['POST', '/v1/admin/developers/dev_1/approver-recovery'],
  ['POST', '/v1/admin/developers/dev_1/log-restart'],
  ['POST', '/v1/admin/developers/dev_1/console-recovery'],
  ['GET', '/v1/admin/stats'],
  ['GET', '/v1/admin/developers'],
  ['POST', '/v1/admin/developers'],
  ['PATCH', '/v1/admin/developers/dev_1/plan'],
] as const;

test('T8: routes of the operator take ADMIN_API_KEY and no other credential', async () => {
  const service = await startApp();
  const { apiKey } = await service.asDeveloper();

  for (const [method, url] of CALLS) {
    for (const key of [apiKey, ADMIN_API_KEY.slice(0, -1), `${ADMIN_API_KEY}x`]) {
      expect(refusalOf(await service.calling(key)(method, url, {}))).toBe('401 UNAUTHORIZED');
    }
    const nobody = await service.app.inject({ method, url });
    expect(refusalOf(nobody)).toBe('401 UNAUTHORIZED');
    expect(nobody.headers['www-authenticate']).toBe('Bearer');
  }
});

test('without ADMIN_API_KEY the routes of the operator are closed', async () => {
  const service = await startApp({ env: { ADMIN_API_KEY: '' } });

  for (const [method, url] of CALLS) {
    const answer = await service.calling(ADMIN_API_KEY)(method, url, {});
    expect(refusalOf(answer)).toBe('503 NOT_CONFIGURED');
    expect(answer.json().details).toEqual({ setting: 'ADMIN_API_KEY' });
  }
});

test('an address may try twenty times a minute', async () => {
  const service = await startApp({ realLimits: true, store: 'memory' });
  const attempt = (key: string) => service.calling(key)('GET', '/v1/admin/entries');
  for (let tried = 0; tried < 20; tried += 1) expect((await attempt('wrong')).statusCode).toBe(401);

  expect(refusalOf(await attempt(ADMIN_API_KEY))).toMatch(/^429 RATE_LIMITED/);
});

test('the chain is read page by page', async () => {
  const env = { SIGNING_KEY_STORE: 'postgres' };
  const service = await startApp({ env });
  const operator = service.calling(ADMIN_API_KEY);
  await operator('POST', '/v1/admin/keys/rotate', {});

  const first = (await operator('GET', '/v1/admin/entries?limit=1')).json();
  const second = (await operator('GET', `/v1/admin/entries?limit=1&cursor=${first.nextCursor}`)).json();

  expect([first, second].map(({ entries }) => entries[0].seq)).toEqual([1, 2]);
  expect(second.entries[0].prevHash).toBe(first.entries[0].hash);
  expect(second.nextCursor).toBeNull();
});

test('nobody changes an entry', async () => {
  const service = await startApp({ env: { SIGNING_KEY_STORE: 'postgres' } });

  const changed = service.db.updateTable('operatorEntries').set({ action: 'other' }).execute();

  await expect(changed).rejects.toThrow('operator_entries is append-only');
});
