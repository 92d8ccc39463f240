import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { entriesOf, registerAgent } from '../../../../test/app/flow.ts';
import { openAtEachWork, send } from '../../../../test/app/repeating.ts';
import { newDatabase, startApp, type TestOptions } from '../../../../test/app/start-app.ts';
import { CEDAR_SCHEMA, MAX_CEDAR_BYTES } from './cedar.rules.ts';

const GUIDES = new URL('../../../../../../docs/guides/', import.meta.url);
const ON = { POLICY_BACKEND: 'cedar_bundles' };

async function accountOf(options: TestOptions = { env: ON }) {
  const service = await startApp(options);
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { agentId } = await registerAgent(acme);
  let version = 0;
  const sync = (text: string, change: object = {}) => {
    version += 1;
    const content = Buffer.from(text).toString('base64');
    return acme('POST', '/v1/policies/sync', {
      format: 'cedar',
      version: String(version),
      content,
      ...change,
    });
  };
  const evaluate = async (change: object = {}) => {
    const asked = { agentId, principalId: 'user_42', scopes: ['payments:transfer'], ...change };
    const { effect, reason, backend } = (await acme('POST', '/v1/policies/evaluate', asked)).json();
    return { effect, reason, backend };
  };
  const ask = () => acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['a:b'] });
  return { ...service, acme, agentId, sync, evaluate, ask };
}

const denied = (reason: string) => ({ effect: 'deny', backend: 'cedar', reason });
const allowed = (reason: string) => ({ effect: 'allow', backend: 'cedar', reason });

test('the active Cedar bundle of a developer decides after their policies, from the next request on', async () => {
  const { acme, sync, evaluate, ask } = await accountOf();
  expect(await evaluate()).toMatchObject({ effect: null, backend: 'builtin' });

  const first = await sync(
    '@id("mail only") permit(principal, action, resource) when { context.scopes == ["email:send"] };',
  );
  expect(first.statusCode).toBe(201);
  expect(await evaluate({ scopes: ['email:send'] })).toEqual(allowed('mail only'));
  expect(await evaluate()).toEqual(denied('no policy of the bundle permits this'));
  const refused = await ask();
  expect(refused.json()).toMatchObject({ code: 'POLICY_DENIED', details: { policyId: null } });
  expect(await entriesOf(acme, 'authorization.blocked')).toMatchObject([
    { metadata: { backend: 'cedar', reason: 'no policy of the bundle permits this' } },
  ]);

  await sync('permit(principal, action, resource);');
  expect((await ask()).statusCode).toBe(201);
  await acme('POST', `/v1/policies/bundles/${first.json().bundleId}/activate`);
  expect((await ask()).statusCode).toBe(403);
  await acme('POST', '/v1/policies', { name: 'No', effect: 'deny', scopes: ['email:*'] });
  expect(await evaluate({ scopes: ['email:send'] })).toMatchObject({ effect: 'deny', backend: 'builtin' });
});

test('a bundle sees agent, operation, scopes and what covers them, time, purpose, network and depth', async () => {
  const { agentId, sync, evaluate } = await accountOf();
  const cases: [condition: string, meets: object, misses: object][] = [
    [`principal == Behest::Agent::"${agentId}"`, {}, { agentId: 'ag_other' }],
    ['action == Behest::Action::"token"', { operation: 'token' }, { operation: 'authorize' }],
    ['context.covering.contains("payments:*")', {}, { scopes: ['pay:x'] }],
    [
      'context.covering.contains("tool:crm:*")',
      { scopes: ['tool:crm:read:x'] },
      { scopes: ['tool:cr:read'] },
    ],
    ['context.covering.contains("*")', {}, { scopes: ['tool:crm:read'] }],
    ['context.scopes.containsAny(["a:b", "payments:transfer"])', {}, { scopes: ['a:c'] }],
    [
      'context.at.toTime() >= duration("22h")',
      { at: '2026-03-29T22:00:00.000Z' },
      { at: '2026-03-29T21:59:59.999Z' },
    ],
    ['context has purpose && context.purpose == "aml.screening"', { purpose: 'aml.screening' }, {}],
    [
      'context has address && context.address.isInRange(ip("10.0.0.0/8"))',
      { address: '::ffff:10.1.2.3' },
      { address: '2001:db8::7' },
    ],
    ['context.principal_id like "user_*"', {}, { principalId: 'admin' }],
  ];

  await sync(
    cases
      .map(([when], n) => `@id("${n}") forbid(principal, action, resource) when { ${when} };`)
      .concat('permit(principal, action, resource);')
      .join('\n'),
  );
  const reasons = async (change: object) => (await evaluate(change)).reason.split(', ');

  for (const [n, [condition, meets, misses]] of cases.entries()) {
    expect({ condition, met: await reasons(meets) }).toEqual({
      condition,
      met: expect.arrayContaining([String(n)]),
    });
    expect({ condition, met: await reasons(misses) }).toEqual({
      condition,
      met: expect.not.arrayContaining([String(n)]),
    });
  }
});

test('the service decides as the library does when it reads text, request and schema at once', async () => {
  const { agentId, sync, evaluate } = await accountOf();
  const cedar = createRequire(import.meta.url)('@cedar-policy/cedar-wasm/nodejs');
  const text = Array.from(
    { length: 12 },
    (_, n) => `@id("rule ${n}")
forbid(principal, action, resource) when { context.scopes.contains("a:${n}") && context.principal_id != "p${n % 3}" };`,
  ).join('\n');
  await sync(`${text}\n@id("rest") permit(principal, action, resource);`);

  for (let n = 0; n < 36; n += 1) {
    const [scopes, principalId] = [[`a:${n % 12}`, `a:${(n * 5) % 17}`], `p${n % 4}`];
    const { response } = cedar.isAuthorized({
      principal: { type: 'Behest::Agent', id: agentId },
      action: { type: 'Behest::Action', id: 'authorize' },
      resource: { type: 'Behest::Grant', id: 'new' },
      context: { scopes, principal_id: principalId },
      policies: { staticPolicies: `${text}\n@id("rest") permit(principal, action, resource);` },
      entities: [],
    });
    const told = await evaluate({ scopes: [...new Set(scopes)], principalId });
    expect({ n, effect: told.effect }).toEqual({ n, effect: response.decision });
    const named = response.diagnostics.reason.map((id: string) =>
      id === 'policy12' ? 'rest' : id.replace('policy', 'rule '),
    );
    expect(told.reason.split(', ').sort()).toEqual(named.sort());
  }
  expect(cedar.checkParseSchema(CEDAR_SCHEMA)).toEqual({ type: 'success' });
});

const FAULTS: [text: string, words: string][] = [
  [
    'permit(principal, action, resource)\nwhen { context.scops.contains("a:b") };',
    'line 2, column 8: attribute `scops` in context not found (did you mean `scopes`?)',
  ],
  ['permit(principal, action, resource) when { context.scopes ;', 'line 1, column 59: '],
  [
    'permit(principal, action == Behest::Action::"authorise", resource);',
    'did you mean `Behest::Action::"authorize"`?',
  ],
  ['permit(principal, action, resource) when { context.purpose == "x" };', 'context has purpose'],
  ['permit(principal == ?principal, action, resource);', 'template'],
  ['permit(principal in Acme::Team::"x", action, resource);', 'Acme::Team'],
  [
    `permit(principal, action, resource) when {${'('.repeat(400)}true${')'.repeat(400)}};`,
    'nests too deeply',
  ],
  [`// ${'x'.repeat(MAX_CEDAR_BYTES)}`, 'more than 262144 bytes'],
];

test('P3: a bundle with a fault is refused in words, and the one before stays', async () => {
  const { acme, sync, evaluate } = await accountOf();
  await sync('@id("all") permit(principal, action, resource);');

  for (const [text, words] of FAULTS) {
    const refused = await sync(text);
    expect(refused.statusCode).toBe(400);
    expect(refused.json().message).toContain(words);
    expect(refused.json().details.fields).toEqual([{ path: 'content', problem: 'not_allowed' }]);
  }
  expect(await evaluate()).toEqual(allowed('all'));
  expect((await acme('GET', '/v1/policies/bundles')).json().bundles).toHaveLength(1);
});

test('P3: a policy that fails denies, although Cedar itself would leave it out', async () => {
  const { sync, evaluate } = await accountOf();
  await sync(`@id("sum") forbid(principal, action, resource)
    when { context has grant && context.grant.delegationDepth + 9223372036854775807 > 5 };
    @id("len") forbid(principal, action, resource) when { context.at.offset(duration("9223372036854775807ms")) > context.at };
    permit(principal, action, resource);`);

  const { effect, reason } = await evaluate();
  expect(effect).toBe('deny');
  expect(reason).toContain('len failed: ');
});

test('P3: bundles that were stored unread deny, leave other accounts alone and cannot be activated', async () => {
  const databaseUrl = await newDatabase();
  const before = await accountOf({ databaseUrl });
  const deep = `permit(principal, action, resource) when {${'('.repeat(400)}true${')'.repeat(400)}};`;
  const bundles: Record<string, string> = {
    'bundle_invalid: line 1, column 4': 'no policy',
    'bundle_invalid: it is too large': `// ${'x'.repeat(MAX_CEDAR_BYTES)}`,
    backend_unavailable: deep,
  };
  const service = await startApp({ env: ON, databaseUrl });
  const lenient = await startApp({ env: { ...ON, CEDAR_FALLBACK_TO_BUILTIN: 'true' }, databaseUrl });
  const body = { agentId: before.agentId, principalId: 'user_42', scopes: ['a:b'] };
  const post = (of: typeof service, url: string, sent: object) =>
    send(of, { url, apiKey: before.acme.apiKey, body: sent, key: randomUUID() });
  const ask = async (of: typeof service) => (await post(of, '/v1/policies/evaluate', body)).json();
  const other = await service.asDeveloper({ mode: 'sandbox' });
  const permit = Buffer.from('permit(principal, action, resource);').toString('base64');
  await other('POST', '/v1/policies/sync', { format: 'cedar', version: '1', content: permit });

  for (const [reason, text] of Object.entries(bundles)) {
    const { bundleId } = (await before.sync(text)).json();
    const told = await ask(service);
    expect({ reason: told.reason.slice(0, reason.length), effect: told.effect }).toEqual({
      reason,
      effect: 'deny',
    });
    const activated = await post(service, `/v1/policies/bundles/${bundleId}/activate`, {});
    expect(activated.json()).toMatchObject({ code: 'CONFLICT', details: { field: 'content' } });
    expect((await other('POST', '/v1/policies/evaluate', body)).json().effect).toBe('allow');
  }
  // Only a failure of Cedar itself leaves the decision to the developer's policies.
  expect(await ask(lenient)).toMatchObject({ effect: null, backend: 'builtin' });
});

test('a request with an `Idempotency-Key` is decided before its transaction', async () => {
  const { acme, agentId, sync, ...service } = await accountOf();
  await sync('permit(principal, action, resource) when { context.scopes.contains("a:b") };');
  const authorize = (scope: string) =>
    send(service, {
      url: '/v1/authorize',
      apiKey: acme.apiKey,
      body: { agentId, principalId: 'user_42', scopes: [scope] },
      key: scope,
    });

  expect((await authorize('a:b')).statusCode).toBe(201);
  expect((await authorize('a:c')).json().code).toBe('POLICY_DENIED');
});

test('a bundle is checked for a request with an `Idempotency-Key` while no connection waits', async () => {
  const { acme, ...service } = await accountOf();
  const seen = openAtEachWork(service);
  const post = (url: string, body: object, key: string) =>
    send(service, { url, apiKey: acme.apiKey, body, key });
  const sync = (text: string) => {
    const content = Buffer.from(text).toString('base64');
    return post('/v1/policies/sync', { format: 'cedar', version: '1', content }, text);
  };

  const refused = await sync('no policy');
  const synced = await sync('permit(principal, action, resource);');
  const activated = await post(`/v1/policies/bundles/${synced.json().bundleId}/activate`, {}, 'activate');

  expect([refused, synced, activated].map(({ statusCode }) => statusCode)).toEqual([400, 201, 200]);
  expect(seen).toEqual([0, 0, 0]);
});

test('the guide has the schema, and its policies fit', async () => {
  const guide = readFileSync(new URL('deny-in-advance-with-policies.md', GUIDES), 'utf8');
  const [schema, policies = ''] = [...guide.matchAll(/^```cedar\n(.*?)^```$/gms)].map(([, text]) => text);
  const { sync, evaluate } = await accountOf();

  expect(schema).toBe(CEDAR_SCHEMA);
  expect((await sync(policies)).statusCode).toBe(201);
  const night = { address: '10.1.2.3', at: '2026-01-01T22:00:00.000Z' };
  expect(await evaluate(night)).toEqual(denied('no payments at night'));
  expect(await evaluate({ ...night, scopes: ['mail:send'] })).toEqual(allowed('own network'));
});
