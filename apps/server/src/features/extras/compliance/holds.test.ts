import { expect, test } from 'vitest';
import { entriesOf } from '../../../../test/app/flow.ts';
import { startApp } from '../../../../test/app/start-app.ts';

const HOLDS = '/v1/compliance/holds';

test('a legal hold keeps the account open until it is released', async () => {
  const { advance, asDeveloper } = await startApp();
  const [acme, other] = [await asDeveloper(), await asDeveloper()];
  const close = (who: typeof acme) => who('POST', '/v1/me/close', { confirm: who.developerId });

  const placed = await acme('POST', HOLDS, {
    name: 'Case 7',
    reason: 'Letter of 1 May',
    principalId: 'user_42',
  });
  const { id } = placed.json();
  advance(60);
  await acme('POST', HOLDS, { name: 'Case 8' });
  const refused = await close(acme);

  expect(placed.statusCode).toBe(201);
  const hold = {
    id: expect.stringMatching(/^hold_/),
    name: 'Case 7',
    reason: 'Letter of 1 May',
    principalId: 'user_42',
    createdAt: '2026-01-01T00:00:00.000Z',
    releasedAt: null,
  };
  expect(placed.json()).toEqual(hold);
  expect(refused.json()).toMatchObject({ code: 'CONFLICT', details: { field: 'legalHold', standing: 2 } });
  expect((await acme('GET', '/v1/me')).statusCode).toBe(200);
  expect((await close(other)).statusCode).toBe(202);

  const released = await acme('POST', `${HOLDS}/${id}/release`);
  const again = await acme('POST', `${HOLDS}/${id}/release`);
  expect(released.json()).toEqual({ ...hold, releasedAt: '2026-01-01T00:01:00.000Z' });
  expect(again.json()).toEqual(released.json());
  expect((await close(acme)).json().details.standing).toBe(1);
  const { holds, nextCursor } = (await acme('GET', `${HOLDS}?standing=true`)).json();
  expect([holds.map(({ name }: { name: string }) => name), nextCursor]).toEqual([['Case 8'], null]);
  expect((await acme('GET', HOLDS)).json().holds).toHaveLength(2);
  const changes = await entriesOf(acme, 'compliance.hold_changed');
  expect(changes.map(({ metadata }) => [metadata?.id === id, metadata?.change])).toEqual([
    [true, 'placed'],
    [false, 'placed'],
    [true, 'released'],
  ]);
  await acme('POST', `${HOLDS}/${holds[0].id}/release`);
  expect((await close(acme)).statusCode).toBe(202);
});

test('100 holds stand at most, and no other developer sees or releases one', async () => {
  const { asDeveloper } = await startApp();
  const [acme, other] = [await asDeveloper(), await asDeveloper()];
  const ids: string[] = [];
  for (let each = 0; each < 100; each += 1) ids.push((await acme('POST', HOLDS, { name: 'Case' })).json().id);

  expect((await acme('POST', HOLDS, { name: 'Case' })).json().code).toBe('CONFLICT');
  expect((await other('POST', `${HOLDS}/${ids[0]}/release`)).statusCode).toBe(404);
  expect((await other('GET', HOLDS)).json().holds).toEqual([]);
  await acme('POST', `${HOLDS}/${ids[0]}/release`);
  expect((await acme('POST', HOLDS, { name: 'Case' })).statusCode).toBe(201);
});
