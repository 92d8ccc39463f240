import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  openSession,
  refusalOf,
  registerAgent,
} from '../../../../test/app/flow.ts';
import { onThisMachine, proxied, through } from '../../../../test/app/proxy.ts';
import { ADMIN_API_KEY, type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import * as vault from '../../../../test/app/vault.ts';

let service: Service;
let elsewhere: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true, env: onThisMachine });
  elsewhere = await startApp({ isShared: true, env: onThisMachine });
});
afterAll(() => Promise.all([service.stop(), elsewhere.stop()]));

const stop = (developer: Developer, body: object = {}) => developer('POST', '/v1/me/stop', body);
const resume = (developer: Developer) => developer('POST', '/v1/me/resume', {});

const manifest = { $schema: 'x', connector: 'mail', version: '1', tools: { list: 'read' } };

/** Every way in which an agent, or its host, uses what it was given. Each leaves the others possible. */
async function waysOf(acme: Developer, at: Service) {
  const call = at.calling(acme.apiKey);
  await acme('PUT', '/v1/manifests/mail', manifest);
  const held = await proxied(acme, {
    request: { scopes: ['vault:github:proxy', 'tool:mail:read', 'github:read'] },
  });
  const { agentId, grantToken: token } = held;
  const spare = await grantTo(acme);
  const code = String((await authorize(acme, agentId)).code);
  const ways = {
    verify: async () => String((await call('POST', '/v1/tokens/verify', { token })).json().reason ?? 'good'),
    introspect: async () => String((await call('POST', '/v1/tokens/introspect', { token })).json().active),
    enforce: async () => {
      const body = { grantToken: token, connector: 'mail', tool: 'list', arguments: {} };
      const {
        allowed,
        reason_code: code,
        sub_reason: more,
      } = (await call('POST', '/v1/enforce', body)).json();
      return allowed ? 'allowed' : `${code} ${more}`;
    },
    authorize: () =>
      call('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['a:b'] }).then(said),
    exchange: () => call('POST', '/v1/token', { agentId, code }).then(said),
    refresh: () =>
      call('POST', '/v1/token/refresh', { agentId: spare.agentId, refreshToken: spare.refreshToken }).then(
        said,
      ),
    delegate: () =>
      call('POST', '/v1/grants/delegate', {
        parentGrantToken: token,
        subAgentId: spare.agentId,
        scopes: ['github:read'],
      }).then(said),
    vault: () => vault.exchange(at, token).then(said),
    proxy: () => through(at, token, '/repos/a').then(said),
  };
  const all = async () => {
    const told: Record<string, string> = {};
    for (const [name, way] of Object.entries(ways)) told[name] = await way();
    return told;
  };
  return all;
}

const said = (answer: Parameters<typeof refusalOf>[0]) =>
  answer.statusCode < 400 ? String(answer.statusCode) : refusalOf(answer);

describe('R13: an account that is stopped', () => {
  test.each([
    ['on the same instance', () => service],
    ['on another instance', () => elsewhere],
  ])('lets no agent do anything from the answer on, %s', async (_, at) => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const ways = await waysOf(acme, at());

    expect((await stop(acme, { reason: 'The host was broken into.' })).statusCode).toBe(200);
    const stopped = await ways();
    expect((await resume(acme)).statusCode).toBe(200);
    const resumed = await ways();

    expect(stopped).toEqual({
      verify: 'agent_inactive',
      introspect: 'false',
      enforce: 'grant_revoked suspended',
      authorize: '409 AGENT_INACTIVE',
      exchange: '400 INVALID_GRANT agent_inactive',
      refresh: '400 INVALID_GRANT agent_inactive',
      delegate: '400 INVALID_GRANT agent_inactive',
      vault: '401 UNAUTHORIZED',
      proxy: '401 UNAUTHORIZED',
    });
    expect(resumed).toEqual({
      ...{ verify: 'good', introspect: 'true', enforce: 'allowed', authorize: '201', exchange: '201' },
      ...{ refresh: '201', delegate: '201', vault: '200', proxy: '200' },
    });
  });

  test('leaves the accounts of others alone, and lets its owner look and revoke', async () => {
    const [acme, other] = [
      await service.asDeveloper({ mode: 'sandbox' }),
      await service.asDeveloper({ mode: 'sandbox' }),
    ];
    const [own, foreign] = [await grantTo(acme), await grantTo(other)];
    await stop(acme);

    const { grantToken: token } = foreign;
    expect((await other('POST', '/v1/tokens/verify', { token })).json().valid).toBe(true);
    expect((await acme('GET', `/v1/grants/${own.grantId}`)).json().status).toBe('active');
    expect((await acme('GET', `/v1/agents/${own.agentId}`)).json().status).toBe('active');
    const { sessionToken } = (await openSession(acme)).json();
    const ended = await service.calling(sessionToken)('DELETE', `/v1/principal/grants/${own.grantId}`);
    expect(ended.statusCode).toBe(204);
  });

  test('comes back with what is still good by then', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const [kept, revoked, suspended] = [await grantTo(acme), await grantTo(acme), await grantTo(acme)];
    const short = await grantTo(acme, { expiresIn: '1h' });
    await stop(acme);
    await acme('DELETE', `/v1/grants/${revoked.grantId}`);
    await acme('PATCH', `/v1/agents/${suspended.agentId}`, { status: 'suspended' });
    const { agentId } = await registerAgent(acme, 'Came meanwhile');
    const refused = await acme('POST', '/v1/authorize', { agentId, principalId: 'u', scopes: ['a:b'] });
    service.advance(3600);
    await resume(acme);

    expect(refusalOf(refused)).toBe('409 AGENT_INACTIVE');
    const verdicts = await Promise.all(
      [kept, revoked, suspended, short].map(async ({ grantToken: token }) => {
        const { valid, reason } = (await acme('POST', '/v1/tokens/verify', { token })).json();
        return valid ? 'good' : reason;
      }),
    );
    expect(verdicts).toEqual(['good', 'revoked', 'agent_inactive', 'expired']);
  });

  test('says so in `/v1/me`, in one entry and one event, however often it is stopped', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const reason = 'The host was broken into.';
    const first = await stop(acme, { reason });
    service.advance(60);
    const second = await stop(acme, { reason: 'Another one.' });
    const runtime = await acme.asRuntime();

    expect(first.json()).toEqual({ stoppedAt: expect.any(String), stopReason: reason });
    expect(second.json()).toEqual(first.json());
    expect((await runtime('GET', '/v1/me')).json()).toMatchObject(first.json());
    const nothing = { stoppedAt: null, stopReason: null };
    expect((await resume(acme)).json()).toEqual(nothing);
    expect((await resume(acme)).json()).toEqual(nothing);
    expect((await acme('GET', '/v1/me')).json()).toMatchObject(nothing);

    const actions = (await actionsOf(acme)).filter((action) => action.startsWith('account.'));
    expect(actions).toEqual(['account.stopped', 'account.resumed']);
    const [stopped] = await entriesOf(acme, 'account.stopped');
    expect(stopped).toMatchObject({ status: 'success', agentId: null, metadata: { reason } });
    const { events } = (await acme('GET', '/v1/events?types=account.*')).json();
    expect(events).toMatchObject([
      { type: 'account.stopped', data: { developerId: acme.developerId, reason } },
      { type: 'account.resumed', data: { developerId: acme.developerId, stoppedAt: first.json().stoppedAt } },
    ]);
  });

  test('is stopped and resumed by no key of an agent’s host', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const runtime = await acme.asRuntime();

    for (const path of ['/v1/me/stop', '/v1/me/resume'])
      expect(refusalOf(await runtime('POST', path, {}))).toBe('403 FORBIDDEN');
    expect((await acme('GET', '/v1/me')).json().stoppedAt).toBeNull();
  });
});

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
  service.advance(365 * 86_400); // past the accounts of other tests
  const before = (await operator('GET', '/v1/admin/stats')).json();
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
