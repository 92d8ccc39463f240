import { expect, test } from 'vitest';
import { authorize, entriesOf, grantTo, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../../../../test/app/person.ts';
import { type Developer, newDatabase, startApp } from '../../../../test/app/start-app.ts';

const start = sharedSandbox();

const scopes = ['calendar:read', 'email:send'];
const noMail = { name: 'No mail', effect: 'deny', scopes: ['email:*'] };

async function deny(acme: Developer, policy: object = noMail): Promise<string> {
  const created = await acme('POST', '/v1/policies', policy);
  expect(created.statusCode).toBe(201);
  return created.json().id;
}

test('a denial at the exchange leaves the code as it was', async () => {
  const { acme } = await start();
  const { agentId } = await registerAgent(acme);
  const { code } = await authorize(acme, agentId, { scopes });
  const policyId = await deny(acme);
  const exchange = () => acme('POST', '/v1/token', { code, agentId });

  const refused = await exchange();
  expect(refused.statusCode).toBe(403);
  expect(refused.json()).toMatchObject({ code: 'POLICY_DENIED', details: { policyId } });
  expect((await exchange()).statusCode).toBe(403);
  await acme('DELETE', `/v1/policies/${policyId}`);

  expect((await exchange()).statusCode).toBe(201);
  const [entry, ...further] = await entriesOf(acme, 'policy.denied');
  expect(further).toEqual([]);
  expect(entry).toMatchObject({ status: 'blocked', metadata: { policyId, operation: 'token', scopes } });
});

test('a denial at the refresh leaves the refresh token as it was', async () => {
  const { acme } = await start();
  const { agentId, refreshToken, grantId } = await grantTo(acme, { scopes });
  const policyId = await deny(acme);
  const refresh = () => acme('POST', '/v1/token/refresh', { refreshToken, agentId });

  expect((await refresh()).json()).toMatchObject({ code: 'POLICY_DENIED', details: { policyId } });
  expect(await entriesOf(acme, 'policy.denied')).toMatchObject([
    { grantId, metadata: { operation: 'refresh', policyId } },
  ]);
  await acme('DELETE', `/v1/policies/${policyId}`);

  expect((await refresh()).statusCode).toBe(201);
});

test('a delegation is judged by the agent that gets the grant, and by the scopes that it gets', async () => {
  const { acme } = await start();
  const { grantToken } = await grantTo(acme, { scopes });
  const sub = await registerAgent(acme, 'Helper');
  await deny(acme, { ...noMail, agentId: sub.agentId });
  const delegate = (wanted: string[]) =>
    acme('POST', '/v1/grants/delegate', {
      parentGrantToken: grantToken,
      subAgentId: sub.agentId,
      scopes: wanted,
    });

  expect((await delegate(scopes)).json().code).toBe('POLICY_DENIED');
  expect((await delegate(['calendar:read'])).statusCode).toBe(201);
  expect(await entriesOf(acme, 'policy.denied')).toMatchObject([{ metadata: { operation: 'delegate' } }]);
});

test('an allowing policy gives a delegation no more than its parent has', async () => {
  const { acme } = await start();
  const { grantToken } = await grantTo(acme, { scopes });
  const { agentId: subAgentId } = await registerAgent(acme, 'Helper');
  await deny(acme, { name: 'All', effect: 'allow', scopes: ['files:read', 'calendar:*'] });

  const wider = { parentGrantToken: grantToken, subAgentId, scopes: ['files:read'] };
  expect((await acme('POST', '/v1/grants/delegate', wider)).json().code).toBe('INVALID_SCOPE');
});

test('a denial at the consent leaves the request open, and tells the person no policy', async () => {
  const { service } = await start();
  const voucher = await newVoucher();
  const acme = await service.asDeveloper({ mode: 'live' });
  await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
  const { agentId } = await registerAgent(acme);
  const asked = await authorize(acme, agentId, { scopes });
  const policyId = await deny(acme);
  const person = personOn(service);
  await person.open(asked.consentUrl, await voucher.hint(hintClaims(service, acme.developerId, asked)));

  const refused = await person.approve(asked.id);
  expect(refused.statusCode).toBe(403);
  expect(refused.json()).toMatchObject({ code: 'POLICY_DENIED' });
  expect(refused.body).not.toContain(policyId);
  expect((await acme('GET', `/v1/authorize/${asked.id}`)).json().status).toBe('pending');
  expect(await entriesOf(acme, 'authorization.blocked')).toMatchObject([
    { status: 'blocked', metadata: { policyId, operation: 'consent' } },
  ]);

  const narrowed = await person.approve(asked.id, { scopes: ['calendar:read'] });
  expect(narrowed.statusCode).toBe(200);
});

test('a policy approves only for a live developer who lets it, and only by the scopes that it lists', async () => {
  const { service } = await start();
  const voucher = await newVoucher();
  const acme = await service.asDeveloper({ mode: 'live' });
  await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
  const { agentId } = await registerAgent(acme);
  const ask = async (wanted = scopes) => authorize(acme, agentId, { scopes: wanted });
  await deny(acme, { name: 'Everything', effect: 'allow', priority: -1 });
  const listed = { name: 'Read and send', effect: 'allow', scopes: ['calendar:*', 'email:send'] };
  const policyId = await deny(acme, listed);

  expect(await ask()).toMatchObject({ status: 'pending' });
  await acme('PATCH', '/v1/me', { policyAutoApproval: true });
  expect(await ask([...scopes, 'files:read'])).toMatchObject({ status: 'pending' });
  const approved = await ask();
  expect(approved).toMatchObject({ status: 'approved', policyEnforced: true, effect: 'allow', policyId });
  const { grantId } = (await acme('POST', '/v1/token', { code: approved.code, agentId })).json();

  expect((await acme('GET', `/v1/grants/${grantId}`)).json()).toMatchObject({
    consentMethod: 'policy',
    policyId,
  });
  expect(await entriesOf(acme, 'authorization.approved')).toMatchObject([
    { metadata: { method: 'policy', policyId } },
  ]);
});

test('a policy holds on every instance from the answer that made it', async () => {
  const databaseUrl = await newDatabase();
  const one = await startApp({ databaseUrl });
  const other = await startApp({ databaseUrl });
  const acme = await one.asDeveloper({ mode: 'sandbox' });
  const there = other.calling(acme.apiKey);
  const { agentId } = await registerAgent(acme);
  const ask = { agentId, principalId: 'user_42', scopes };

  for (let round = 0; round < 3; round += 1) {
    const id = await deny(acme);
    expect((await there('POST', '/v1/authorize', ask)).statusCode).toBe(403);
    await acme('DELETE', `/v1/policies/${id}`);
    expect((await there('POST', '/v1/authorize', ask)).statusCode).toBe(201);
  }
});

test('equal priority: a denial comes before a permission; a higher priority comes first', async () => {
  const { acme } = await start();
  const evaluate = async () =>
    (await acme('POST', '/v1/policies/evaluate', { agentId: 'ag_1', principalId: 'p', scopes })).json();
  expect(await evaluate()).toEqual({
    effect: null,
    policyId: null,
    reason: 'No policy matches.',
    evaluated: 0,
    backend: 'builtin',
    conditions: [],
    explanation: null,
  });

  const allowing = await deny(acme, { name: 'Allow', effect: 'allow', scopes: ['*'] });
  const denying = await deny(acme);
  expect(await evaluate()).toEqual({
    effect: 'deny',
    policyId: denying,
    reason: `Policy ${denying} denies this: scopes email:* meets email:send.`,
    evaluated: 2,
    backend: 'builtin',
    conditions: [{ field: 'scopes', condition: 'email:*', met: 'email:send' }],
    explanation: {
      policyId: denying,
      name: noMail.name,
      effect: 'deny',
      priority: 0,
      conditions: [{ field: 'scopes', condition: 'email:*', met: 'email:send' }],
    },
  });
  await acme('PATCH', `/v1/policies/${allowing}`, { priority: 1 });
  expect(await evaluate()).toMatchObject({ effect: 'allow', policyId: allowing });
});

test('refuses half hours, empty hours, empty lists, malformed scopes and unknown fields', async () => {
  const { acme } = await start();
  const policy = { name: 'Night', effect: 'deny', timeOfDayStart: '22:00', timeOfDayEnd: '06:00' };
  const id = await deny(acme, policy);
  const wrong = [
    { timeOfDayEnd: null },
    { timeOfDayEnd: '22:00' },
    { timeOfDayStart: '24:00' },
    { scopes: [] },
    { scopes: ['read all'] },
    { priority: 1_000_001 },
    { priority: null },
    { agentID: 'ag_1' },
    {},
  ];

  for (const change of wrong) {
    const refused = await acme('PATCH', `/v1/policies/${id}`, change);
    expect({ change, code: refused.json().code }).toEqual({ change, code: 'BAD_REQUEST' });
  }
  const { timeOfDayEnd: _, ...half } = policy;
  expect((await acme('POST', '/v1/policies', half)).statusCode).toBe(400);
});

test('a plan is full of policies exactly at its limit', async () => {
  const { asDeveloper } = await startApp({ env: { PLAN_FREE_POLICIES: '2' } });
  const acme = await asDeveloper({ mode: 'sandbox' });
  const first = await deny(acme);
  await deny(acme);

  expect((await acme('POST', '/v1/policies', noMail)).json()).toMatchObject({
    code: 'PLAN_LIMIT_EXCEEDED',
    details: { resource: 'policies', limit: 2 },
  });
  await acme('DELETE', `/v1/policies/${first}`);
  expect((await acme('POST', '/v1/policies', noMail)).statusCode).toBe(201);
});

test('pages follow the order of evaluation, also past a policy that is deleted meanwhile', async () => {
  const { acme } = await start();
  const made: string[] = [];
  for (const [priority, effect] of [
    [0, 'allow'],
    [0, 'deny'],
    [5, 'allow'],
    [-5, 'deny'],
  ] as const) {
    made.push(await deny(acme, { name: 'One', effect, priority, scopes: ['a:b'] }));
  }
  const inOrder = [made[2], made[1], made[0], made[3]];

  const first = (await acme('GET', '/v1/policies?limit=2')).json();
  expect(first.policies.map(({ id }: { id: string }) => id)).toEqual(inOrder.slice(0, 2));
  await acme('DELETE', `/v1/policies/${inOrder[1]}`);
  const rest = (await acme('GET', `/v1/policies?limit=2&cursor=${first.nextCursor}`)).json();
  expect(rest.policies.map(({ id }: { id: string }) => id)).toEqual(inOrder.slice(2));
  expect(rest.nextCursor).toBeNull();
});

test('a policy says nothing about the requests of another developer, even if it names their agent', async () => {
  const { acme, service } = await start();
  const { agentId } = await registerAgent(acme);
  const other = await service.asDeveloper({ mode: 'sandbox' });
  await deny(other, { ...noMail, agentId });

  expect(await authorize(acme, agentId, { scopes })).toMatchObject({ status: 'approved' });
});
