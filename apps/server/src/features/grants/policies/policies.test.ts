import { expect, test } from 'vitest';
import { actionsOf, entriesOf, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import { tamper } from '../../../../test/app/many-entries.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { systemCaller } from '../../../platform/caller.ts';
import { replayPolicies } from './replay.ts';

const start = sharedSandbox();

const noPayments = { name: 'No payments', effect: 'deny', scopes: ['payments:transfer'] };

test('a policy is created, listed, changed and deleted, and each act is recorded', async () => {
  const { acme } = await start();

  const created = await acme('POST', '/v1/policies', noPayments);
  const { id } = created.json();

  expect(created.statusCode).toBe(201);
  const { warnings, ...record } = created.json();
  expect(warnings).toEqual([]);
  expect(record).toEqual({
    id: expect.stringMatching(/^pol_[0-9A-Z]{26}$/),
    name: 'No payments',
    effect: 'deny',
    priority: 0,
    agentId: null,
    principalId: null,
    scopes: ['payments:transfer'],
    timeOfDayStart: null,
    timeOfDayEnd: null,
    timeZone: null,
    daysOfWeek: null,
    purposes: null,
    networks: null,
    delegationDepthMin: null,
    delegationDepthMax: null,
    connector: null,
    tools: null,
    arguments: null,
    version: 1,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  });
  const change = { priority: 5, timeOfDayStart: '22:00', timeOfDayEnd: '06:00', scopes: null };
  const changed = await acme('PATCH', `/v1/policies/${id}`, change);
  expect(changed.json()).toEqual({ ...created.json(), ...change, version: 2 });
  const { warnings: none, ...after } = changed.json();
  expect(none).toEqual([]);
  expect((await acme('GET', `/v1/policies/${id}`)).json()).toEqual(after);
  expect((await acme('GET', '/v1/policies')).json()).toEqual({
    policies: [after],
    unknownAgents: [],
    total: 1,
    nextCursor: null,
  });
  expect((await acme('DELETE', `/v1/policies/${id}`)).statusCode).toBe(204);
  expect((await acme('GET', `/v1/policies/${id}`)).statusCode).toBe(404);
  expect((await acme('DELETE', `/v1/policies/${id}`)).statusCode).toBe(404);
  expect(await actionsOf(acme)).toEqual([
    'developer.created',
    'policy.created',
    'policy.updated',
    'policy.deleted',
  ]);
  expect((await entriesOf(acme, 'policy.updated'))[0]?.metadata).toMatchObject({
    policyId: id,
    version: 2,
    changes: { priority: { from: 0, to: 5 }, scopes: { from: ['payments:transfer'], to: null } },
  });
});

test('a request that overlaps a denial is refused, stored nowhere and recorded', async () => {
  const { acme } = await start();
  const { agentId } = await registerAgent(acme);
  const { id } = (await acme('POST', '/v1/policies', noPayments)).json();
  const ask = (scopes: string[]) =>
    acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes });

  for (const scopes of [
    ['payments:transfer'],
    ['payments:*'],
    ['*'],
    ['calendar:read', 'payments:transfer'],
  ]) {
    const refused = await ask(scopes);
    expect(refused.statusCode).toBe(403);
    expect(refused.json()).toMatchObject({ code: 'POLICY_DENIED', details: { policyId: id } });
  }
  expect((await ask(['payments:read'])).statusCode).toBe(201);

  expect(await entriesOf(acme, 'authorization.requested')).toHaveLength(1);
  const [blocked, ...further] = await entriesOf(acme, 'authorization.blocked');
  expect(further).toEqual([]);
  expect(blocked).toMatchObject({
    status: 'blocked',
    metadata: {
      policyId: id,
      operation: 'authorize',
      scopes: ['payments:transfer'],
      backend: 'builtin',
      reason: `Policy ${id} denies this: scopes is payments:transfer.`,
    },
  });

  await acme('DELETE', `/v1/policies/${id}`);
  expect((await ask(['payments:transfer'])).statusCode).toBe(201);
});

test('a replay tells what a draft would have changed, at the time of each request, and changes nothing', async () => {
  const { asDeveloper, advance } = await startApp();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { agentId } = await registerAgent(acme);
  const ask = (scopes: string[]) =>
    acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes });
  await ask(['payments:transfer']);
  advance(12 * 3600);
  await ask(['payments:transfer']);
  await ask(['calendar:read']);
  const { id } = (await acme('POST', '/v1/policies', noPayments)).json();
  expect((await ask(['payments:transfer'])).statusCode).toBe(403);
  advance(60);
  const before = await actionsOf(acme);
  const span = { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' };
  const replay = (candidate: object) => acme('POST', '/v1/policies/replay', { ...span, candidate });

  const night = { timeOfDayStart: '22:00', timeOfDayEnd: '06:00' };
  const narrowed = (await replay({ ...noPayments, ...night, id })).json();
  expect(narrowed).toMatchObject({
    evaluated: 4,
    unchanged: 2,
    totals: { newlyDenied: 0, newlyAllowed: 2, newlyWaiting: 0 },
  });
  const asking = (await replay({ ...noPayments, effect: 'require_approval', id })).json();
  expect(asking.totals).toEqual({ newlyDenied: 0, newlyAllowed: 0, newlyWaiting: 3 });
  const draft = await replay({ name: 'No calendar', effect: 'deny', scopes: ['calendar:*'] });
  expect(draft.json()).toEqual({
    evaluated: 4,
    unchanged: 3,
    changes: [
      {
        entryId: expect.stringMatching(/^alog_/),
        at: '2026-01-01T12:00:00.000Z',
        agentId,
        principalId: 'user_42',
        before: null,
        after: 'deny',
        rule: 'candidate',
        explanation: {
          policyId: 'candidate',
          name: 'No calendar',
          effect: 'deny',
          priority: 0,
          conditions: [{ field: 'scopes', condition: 'calendar:*', met: 'calendar:read' }],
        },
      },
    ],
    totals: { newlyDenied: 1, newlyAllowed: 0, newlyWaiting: 0 },
    agents: [{ agentId, newlyDenied: 1, newlyAllowed: 0, newlyWaiting: 0 }],
    principals: [{ principalId: 'user_42', newlyDenied: 1, newlyAllowed: 0, newlyWaiting: 0 }],
    warnings: [],
    notEvaluated: { approvals: 0, unrecorded: 0, addresses: 0 },
    complete: true,
  });

  expect(await actionsOf(acme)).toEqual(before);
  const wide = { since: '2026-01-01T00:00:00Z', until: '2026-01-31T00:00:01Z', candidate: noPayments };
  expect((await acme('POST', '/v1/policies/replay', wide)).statusCode).toBe(400);
  expect((await replay({ ...noPayments, id: 'pol_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' })).statusCode).toBe(404);
});

test('a replay lets other requests go between its entries, which many time zones make slow', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const tenant = { developerId: acme.developerId };
  for (const timeZone of Intl.supportedValuesOf('timeZone').slice(0, 40)) {
    const policy = { name: timeZone, effect: 'deny', timeZone, daysOfWeek: ['sun'] };
    expect((await acme('POST', '/v1/policies', policy)).statusCode).toBe(201);
  }
  await tamper(
    service.databaseUrl,
    `insert into audit_entries (developer_id, seq, id, action, status, metadata, at, hash, agent_id, principal_id)
     select $1, n, 'alog_' || n, 'authorization.requested', 'success', '{"scopes": ["calendar:read"]}',
       timestamptz '2026-01-01' + n * interval '1 minute', '\\x00', 'ag_1', 'user_42'
     from generate_series(5000, 8999) n`,
    [acme.developerId],
  );
  await tamper(service.databaseUrl, 'update audit_heads set seq = 8999 where developer_id = $1', [
    acme.developerId,
  ]);
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
  };
  const span = { since: '2026-01-01T00:00:00Z', until: '2026-01-20T00:00:00Z' };

  const report = await replayPolicies(
    { ...service, pause },
    systemCaller(tenant, { mode: 'sandbox', plan: 'free' }, 'replay'),
    { ...span, candidate: { name: 'No calendar', effect: 'deny', scopes: ['calendar:*'] } },
  );

  expect(report).toMatchObject({ complete: true, totals: { newlyAllowed: 0 } });
  expect(report.evaluated).toBe(4000);
  expect(pauses).toBeGreaterThan(2);
});

test('medium 7: a list of policies says how many there are, on every page', async () => {
  const { acme } = await start();
  for (const name of ['One', 'Two', 'Three']) await acme('POST', '/v1/policies', { ...noPayments, name });

  const first = (await acme('GET', '/v1/policies?limit=2')).json();
  const second = (await acme('GET', `/v1/policies?limit=2&cursor=${first.nextCursor}`)).json();

  expect([first.policies.length, first.total]).toEqual([2, 3]);
  expect([second.policies.length, second.total, second.nextCursor]).toEqual([1, 3, null]);
});

test('each change of a policy is a version, with what it was and who made it, until the policy is deleted', async () => {
  const { acme, service } = await start();
  const { id } = (await acme('POST', '/v1/policies', noPayments)).json();
  const path = `/v1/policies/${id}/versions`;
  const other = await service.asDeveloper();

  await acme('PATCH', `/v1/policies/${id}`, { timeOfDayStart: '22:00', timeOfDayEnd: '06:00' });
  await acme('PATCH', `/v1/policies/${id}`, { timeOfDayStart: '22:00' }); // it is so already
  const { versions, nextCursor } = (await acme('GET', path)).json();
  const [night, first] = versions;

  expect([versions.length, nextCursor]).toEqual([2, null]);
  expect(first).toMatchObject({ version: 1, createdAt: '2026-01-01T00:00:00.000Z', policy: noPayments });
  expect(night).toMatchObject({ version: 2, policy: { ...noPayments, timeOfDayStart: '22:00' } });
  expect(first.actor).toMatch(/^developer:key_/);
  expect((await other('GET', path)).statusCode).toBe(404);
  expect((await acme('GET', '/v1/policies/pol_01K9Z3QW5M8T2V4X6Y7Z8A9B0C/versions')).statusCode).toBe(404);
  expect((await acme('PATCH', `/v1/policies/${id}`, first.policy)).json()).toMatchObject({
    version: 3,
    timeOfDayStart: null,
  });
  await acme('DELETE', `/v1/policies/${id}`);
  expect((await acme('GET', path)).statusCode).toBe(404);
});

test('the last 50 versions of a policy are kept, and page by their numbers', async () => {
  const { acme, service } = await start();
  const { id } = (await acme('POST', '/v1/policies', noPayments)).json();
  for (let priority = 1; priority <= 52; priority += 1) {
    if (priority % 25 === 0) service.advance(60); // 30 writes a minute
    expect((await acme('PATCH', `/v1/policies/${id}`, { priority })).statusCode).toBe(200);
  }
  const page = async (query: string) => {
    const { versions, nextCursor } = (await acme('GET', `/v1/policies/${id}/versions?${query}`)).json();
    return [versions.map(({ version }: { version: number }) => version), nextCursor];
  };

  const [all, end] = await page('');
  expect([all[0], all.at(-1), all.length, end]).toEqual([53, 4, 50, null]);
  expect(await page('limit=2')).toEqual([[53, 52], '52']);
  expect(await page('limit=50&cursor=6')).toEqual([[5, 4], null]);
  expect((await acme('GET', `/v1/policies/${id}/versions?cursor=x`)).statusCode).toBe(400);
});

test('versions of a large policy are kept up to 512 KiB together', async () => {
  const { acme } = await start();
  const values = Array.from({ length: 100 }, (_, at) => `${at}`.padEnd(100, 'x'));
  const tools = Array.from({ length: 20 }, (_, at) => `tool_${at}`);
  const rules = Object.fromEntries(tools.map((tool) => [tool, { '/to': { in: values } }]));
  const policy = { name: 'Large', effect: 'deny', connector: 'acme_pay', arguments: rules };
  const created = await acme('POST', '/v1/policies', policy);
  const { id } = created.json();
  for (const priority of [1, 2, 3, 4]) await acme('PATCH', `/v1/policies/${id}`, { priority });

  const { versions } = (await acme('GET', `/v1/policies/${id}/versions`)).json();

  expect(versions.map(({ version }: { version: number }) => version)).toEqual([5, 4]);
  expect(Buffer.byteLength(JSON.stringify(versions[0].policy))).toBeGreaterThan(180_000);
});
