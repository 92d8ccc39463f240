import { expect, test } from 'vitest';
import { grantTo, registerAgent } from '../../../../test/app/flow.ts';
import { ADMIN_API_KEY, startApp } from '../../../../test/app/start-app.ts';

async function started(env: Record<string, string> = {}) {
  const service = await startApp({ env });
  const operator = service.calling(ADMIN_API_KEY);
  const entries = async () =>
    (await operator('GET', '/v1/admin/entries'))
      .json()
      .entries.map(({ action }: { action: string }) => action);
  return { service, operator, entries };
}

test('the operator opens an account where sign-up is closed, and the account and both chains know it', async () => {
  const { service, operator, entries } = await started({ SIGNUP_MODE: 'closed' });
  const refused = await service.app.inject({ method: 'POST', url: '/v1/signup', body: { name: 'Mallory' } });

  const made = await operator('POST', '/v1/admin/developers', {
    name: 'Acme',
    email: 'Ada@acme.test',
    mode: 'sandbox',
  });

  expect([refused.statusCode, made.statusCode]).toEqual([403, 201]);
  expect(made.json()).toMatchObject({
    name: 'Acme',
    email: 'ada@acme.test',
    emailVerified: false,
    mode: 'sandbox',
  });
  const acme = service.calling(made.json().apiKey);
  expect((await acme('GET', '/v1/me')).json().developerId).toBe(made.json().developerId);
  const [first] = (await acme('GET', '/v1/audit/entries')).json().entries;
  expect(first).toMatchObject({ action: 'developer.created', metadata: { actor: 'admin' } });
  expect(await entries()).toEqual(['developer.created']);
});

test('the operator lists the accounts page by page, newest first, and counts them', async () => {
  const { service, operator } = await started();
  const before = (await operator('GET', '/v1/admin/stats')).json();
  service.advance(1);
  const old = await service.asDeveloper({ mode: 'sandbox' });
  service.advance(2 * 86_400);
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await registerAgent(acme);
  await grantTo(acme, {});

  const page = (await operator('GET', '/v1/admin/developers?limit=1')).json();
  const next = (await operator('GET', `/v1/admin/developers?limit=1&cursor=${page.nextCursor}`)).json();
  const stats = (await operator('GET', '/v1/admin/stats')).json();

  const ids = [...page.developers, ...next.developers].map(({ id }: { id: string }) => id);
  expect(ids).toEqual([acme.developerId, old.developerId]);
  expect(Object.keys(page.developers[0]).sort()).toEqual(['createdAt', 'email', 'id', 'mode', 'name']);
  expect(stats.totalDevelopers - before.totalDevelopers).toBe(2);
  expect(stats.byMode.sandbox - before.byMode.sandbox).toBe(2);
  expect([stats.last24h, stats.last7d - before.last7d]).toEqual([1, 2]);
  expect([stats.totalAgents - before.totalAgents, stats.totalGrants - before.totalGrants]).toEqual([2, 1]);
});

test('the operator sets a plan, which holds from the next request on', async () => {
  const { service, operator, entries } = await started({ RATE_LIMIT_PLAN_FREE: '100' });
  const acme = await service.asDeveloper();
  const at = `/v1/admin/developers/${acme.developerId}/plan`;
  const limitNow = async () => Number((await acme('GET', '/v1/agents')).headers['x-ratelimit-limit']);
  const before = await limitNow();
  expect(await limitNow()).toBe(before); // the service remembers the caller of a key from its second use on

  const changed = await operator('PATCH', at, { plan: 'enterprise' });

  expect(changed.json()).toEqual({ developerId: acme.developerId, plan: 'enterprise' });
  expect((await acme('GET', '/v1/me')).json().plan).toBe('enterprise');
  expect(await limitNow()).toBeGreaterThan(before);
  expect(await entries()).toContain('developer.plan_changed');
  const unknown = '/v1/admin/developers/dev_01K9Z3QW5M8T2V4X6Y7Z8A9B0C/plan';
  expect((await operator('PATCH', unknown, { plan: 'pro' })).statusCode).toBe(404);
  expect((await operator('PATCH', at, { plan: 'gold' })).statusCode).toBe(400);
});
