import { checks } from '@behest/protocol/enforcement/checks';
import { describe, expect, test } from 'vitest';
import { grantTo, refusalOf, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import type { Developer } from '../../../../test/app/start-app.ts';
import type { Explanation } from './explanations.schema.ts';

const sandbox = sharedSandbox();
const SECRET = 'iban-of-ada';

const tools = {
  list: 'read',
  erase: 'admin',
  send: { permission: 'write', caps: { per_day: 0 } },
  count: { permission: 'read', caps: { per_day: 1 } },
  file: { permission: 'read', caps: { per_case: 1 } },
  pay: { permission: 'write', arguments: { '/amount': { max: '500' } } },
  bill: { permission: 'write', allowed_purposes: ['payments.payout'] },
  sign: { permission: 'write', requires_decision: true },
  meter: { permission: 'read', cost_units: { page: 2 } },
  pinned: { permission: 'read', mcp_pins: [`sha256:${'A'.repeat(43)}`] },
};
const manifest = { $schema: 'x', connector: 'acme_mail', version: '7', tools };

async function mailer(acme: Developer, grant: object = {}) {
  await acme('PUT', '/v1/manifests/acme_mail', manifest);
  const granted = await grantTo(acme, { scopes: ['tool:acme_mail:write'], ...grant });
  const call = async (tool: string, more: object = {}) => {
    const body = { grantToken: granted.grantToken, connector: 'acme_mail', tool, arguments: {}, ...more };
    return (await acme('POST', '/v1/enforce', body)).json();
  };
  return { ...granted, call };
}

async function newest(acme: Developer): Promise<string> {
  const query = '?action=tool.enforce&order=desc&limit=1';
  return (await acme('GET', `/v1/audit/entries${query}`)).json().entries[0].entryId;
}

const explain = async (acme: Developer): Promise<Explanation> =>
  (await acme('GET', `/v1/audit/${await newest(acme)}/explanation`)).json();

const factsOf = ({ checks: all }: Explanation, name: string) =>
  all.find(({ check }) => check === name)?.facts.map((fact) => [fact.name, fact.value, fact.from]);

type Mailer = Awaited<ReturnType<typeof mailer>>;
type Case = readonly [
  key: string,
  check: (typeof checks)[number],
  /** Who makes the first of the changes. */
  by: string,
  ask: (own: Mailer, acme: Developer) => Promise<unknown>,
  grant?: object,
];

/** Every denial that the service itself gives for a call. Those of decisions are made in the tests of decisions. */
const CASES: readonly Case[] = [
  ['token_invalid', 'token', 'agent', ({ call }) => call('list', { grantToken: 'none' })],
  [
    'grant_revoked/revoked',
    'revocation',
    'person',
    async ({ call, grantId }, acme) => {
      await acme('DELETE', `/v1/grants/${grantId}`);
      return call('list');
    },
  ],
  [
    'grant_revoked/suspended',
    'revocation',
    'developer',
    async ({ call, agentId }, acme) => {
      await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
      return call('list');
    },
  ],
  [
    'grant_revoked/parent_revoked',
    'revocation',
    'person',
    async ({ call, grantToken, grantId }, acme) => {
      const { agentId: subAgentId } = await registerAgent(acme);
      const part = { parentGrantToken: grantToken, subAgentId, scopes: ['tool:acme_mail:read'] };
      const child = (await acme('POST', '/v1/grants/delegate', part)).json();
      await acme('DELETE', `/v1/grants/${grantId}`);
      return call('list', { grantToken: child.grantToken });
    },
  ],
  [
    'manifest_unknown_tool/unknown_connector',
    'manifest',
    'developer',
    ({ call }) => call('list', { connector: 'other' }),
  ],
  ['manifest_unknown_tool/unknown_tool', 'tool', 'developer', ({ call }) => call('purge')],
  [
    'manifest_unknown_tool/tool_changed',
    'tool',
    'developer',
    ({ call }) => call('pinned', { toolPin: 'sha256:B' }),
  ],
  [
    'manifest_unknown_tool/manifest_changed',
    'tool',
    'person',
    async ({ agentId }, acme) => {
      await acme('PATCH', '/v1/me', { manifestPinning: 'enforce' });
      const { call } = await mailer(acme);
      expect(agentId).toMatch(/^ag_/);
      await acme('PUT', '/v1/manifests/acme_mail', {
        ...manifest,
        version: '8',
        tools: { ...tools, list: 'write' },
      });
      return call('list');
    },
  ],
  [
    'tool_not_granted/not_in_authorization_details',
    'listed_tools',
    'person',
    ({ call }) => call('list'),
    { authorizationDetails: [{ type: 'urn:service:tools:v1', connector: 'acme_mail', tools: ['count'] }] },
  ],
  ['tool_not_granted', 'scopes', 'person', ({ call }) => call('list'), { scopes: ['calendar:read'] }],
  [
    'tool_not_granted/tool_scope_missing',
    'scopes',
    'person',
    ({ call }) => call('list'),
    { scopes: ['tool:acme_mail:write:inbox'] },
  ],
  ['permission_insufficient', 'permission', 'person', ({ call }) => call('erase')],
  [
    'cap_exceeded/amount_missing',
    'amount',
    'agent',
    ({ call }) => call('list'),
    { scopes: ['tool:acme_mail:write:capped:100'] },
  ],
  [
    'cap_exceeded/invalid_amount',
    'amount',
    'agent',
    ({ call }) => call('list', { amount: -1 }),
    { scopes: ['tool:acme_mail:write:capped:100'] },
  ],
  [
    'cap_exceeded/amount_cap',
    'amount',
    'agent',
    ({ call }) => call('list', { amount: 101 }),
    { scopes: ['tool:acme_mail:write:capped:100'] },
  ],
  ['purpose_not_allowed/missing', 'purpose', 'person', ({ call }) => call('bill')],
  [
    'purpose_not_allowed/not_matched',
    'purpose',
    'person',
    ({ call }) => call('bill'),
    { purpose: 'aml.screening' },
  ],
  ['tool_not_granted/argument_missing', 'arguments', 'agent', ({ call }) => call('pay', { arguments: {} })],
  [
    'tool_not_granted/argument_not_allowed',
    'arguments',
    'agent',
    ({ call }) => call('pay', { arguments: { amount: 777_777 } }),
  ],
  [
    'tool_not_granted/argument_unreadable',
    'arguments',
    'agent',
    ({ call }) => call('pay', { arguments: [SECRET] }),
  ],
  [
    'tool_not_granted/policy_denied',
    'policies',
    'developer',
    async ({ call }, acme) => {
      await acme('POST', '/v1/policies', {
        name: 'no lists',
        effect: 'deny',
        connector: 'acme_mail',
        tools: ['list'],
      });
      return call('list');
    },
  ],
  ['decision_required', 'decision', 'agent', ({ call }) => call('sign', { arguments: { note: SECRET } })],
  [
    'decision_required/malformed',
    'decision',
    'agent',
    ({ call }) => call('sign', { decisionGrants: ['none'] }),
  ],
  ['case_required', 'caps', 'agent', ({ call }) => call('file')],
  ['cap_exceeded/invalid_case_id', 'caps', 'agent', ({ call }) => call('file', { caseId: '' })],
  [
    'cap_exceeded/invalid_cost_component',
    'caps',
    'agent',
    ({ call }) => call('meter', { costComponents: ['ink'] }),
  ],
  [
    'cap_exceeded/limit_reached',
    'caps',
    'developer',
    ({ call }) => call('send', { arguments: { note: SECRET } }),
  ],
];

describe('an explanation of a denial', () => {
  test.each(CASES.map(([key, check, by, ask, grant]) => ({ key, check, by, ask, grant })))(
    '$key names the check $check, and a change, made by the $by',
    async ({ key, check, by, ask, grant }) => {
      const { acme } = await sandbox();
      const own = await mailer(acme, grant);

      const answer = await ask(own, acme);
      const explanation = await explain(acme);

      const [reasonCode, subReason = null] = key.split('/');
      expect(answer).toMatchObject({ allowed: false, reasonCode, subReason });
      expect(explanation.denial).toMatchObject({
        reasonCode,
        subReason,
        check,
        reason: expect.stringMatching(/./),
      });
      const place = checks.indexOf(check);
      expect(explanation.checks.map((each) => [each.check, each.outcome])).toEqual(
        checks.map((each, at) => [each, at < place ? 'passed' : at === place ? 'failed' : 'not_reached']),
      );
      expect(explanation.checks.flatMap((each) => each.notRecorded)).toEqual([]);
      expect(explanation.rule).toMatchObject({ text: expect.stringMatching(/./) });
      expect(explanation.changes[0]).toMatchObject({ by, text: expect.stringMatching(/^[A-Z].*\.$/) });
      const entries = (await acme('GET', '/v1/audit/entries?action=tool.enforce')).body;
      for (const secret of [SECRET, '777777']) {
        expect(JSON.stringify(explanation)).not.toContain(secret);
        expect(entries).not.toContain(secret);
      }
    },
  );

  test('names the first check that fails, whatever fails after it', async () => {
    const { acme } = await sandbox();
    const scopes = ['tool:acme_mail:read:capped:100'];
    const own = await mailer(acme, { scopes });
    const faults = [
      ['token', { grantToken: 'none' }],
      ['manifest', { connector: 'other' }],
      ['tool', { tool: 'purge' }],
      ['permission', { tool: 'pay' }],
      ['amount', { amount: 101 }],
      ['caps', { costComponents: ['ink'] }],
    ] as const;
    const found: unknown[] = [];
    const expected: unknown[] = [];
    for (const [place, [first, one]] of faults.entries()) {
      for (const [, other] of faults.slice(place)) {
        await own.call('meter', { amount: 1, ...other, ...one });
        found.push((await explain(acme)).denial?.check);
        expected.push(first);
      }
    }

    expect(found).toEqual(expected);
  });

  test('has the cap, what was used of it, and the cap that would do', async () => {
    const { acme, clock } = await sandbox();
    const { call, grantId } = await mailer(acme);
    await call('count');
    await call('count');

    const explanation = await explain(acme);

    const retryAt = new Date(clock().getTime() + 86_400_000).toISOString().slice(0, 10);
    expect(explanation).toMatchObject({
      allowed: false,
      call: { connector: 'acme_mail', tool: 'count', grantId, principalId: 'user_42', checkOnly: false },
      rule: {
        kind: 'cap',
        id: 'acme_mail',
        place: 'tools.count.caps.per_day',
        text: 'At most 1 call a day.',
      },
      changes: [
        { by: 'agent', text: expect.stringMatching(/^Wait until 20/) },
        {
          by: 'developer',
          text: 'Give the tool a cap of at least 2.',
          target: { kind: 'manifest', id: 'acme_mail', place: 'tools.count.caps.per_day' },
        },
      ],
    });
    expect(retryAt).toMatch(/^20/);
    expect(factsOf(explanation, 'caps')).toEqual(
      expect.arrayContaining([
        ['limit', 1, 'entry'],
        ['used', 1, 'entry'],
        ['manifestCaps', { per_day: 1 }, 'now'],
      ]),
    );
  });

  test('has the policy and its conditions, and after its deletion says to call again', async () => {
    const { acme } = await sandbox();
    const { call } = await mailer(acme);
    const rules = { name: 'no lists', effect: 'deny', connector: 'acme_mail', tools: ['list'] };
    const { id } = (await acme('POST', '/v1/policies', rules)).json();
    await call('list');

    const before = await explain(acme);
    await acme('DELETE', `/v1/policies/${id}`);
    const after = await explain(acme);

    expect(before).toMatchObject({
      rule: {
        kind: 'policy',
        id,
        conditions: [
          { field: 'connector', condition: 'acme_mail', met: 'acme_mail' },
          { field: 'tools', condition: 'list', met: 'list' },
        ],
      },
      changes: [{ by: 'developer', target: { kind: 'policy', id } }],
    });
    expect(after.rule).toEqual(before.rule);
    expect(after.changes).toEqual([
      expect.objectContaining({ by: 'agent', text: expect.stringMatching(/^Call again/) }),
    ]);
  });

  test('has a request of consent with the scope that is missing', async () => {
    const { acme } = await sandbox();
    const { call, agentId } = await mailer(acme);
    await call('erase');

    const { changes, checks: all } = await explain(acme);

    const scopes = ['tool:acme_mail:write', 'tool:acme_mail:admin'];
    expect(changes[0]?.consent).toEqual({ agentId, principalId: 'user_42', scopes });
    expect((await acme('POST', '/v1/authorize', changes[0]?.consent)).statusCode).toBe(201);
    expect(all.find(({ check }) => check === 'permission')?.facts).toEqual(
      expect.arrayContaining([{ name: 'granted', value: 'write', from: 'entry' }]),
    );
  });

  test('keeps no name that the model chose for an argument, unless it can be a name', async () => {
    const { acme } = await sandbox();
    const { call } = await mailer(acme);
    const paths: unknown[] = [];
    for (const name of ['bccList', 'ada@acme.test', '4111 1111 1111 1111']) {
      await call('pay', { arguments: { amount: '5', [name]: 1 } });
      paths.push(factsOf(await explain(acme), 'arguments')?.find(([fact]) => fact === 'path')?.[1]);
    }

    expect(paths).toEqual(['/bccList', '/', '/']);
  });
});

describe('an explanation', () => {
  test('of an allowed call has all checks passed, and one that only warns', async () => {
    const { acme } = await sandbox();
    const { call } = await mailer(acme);
    await acme('PATCH', '/v1/me', { capsMode: 'warn' });

    await call('list');
    const plain = await explain(acme);
    await call('send', { capsMode: 'warn' });
    const warned = await explain(acme);

    expect(plain).toMatchObject({ allowed: true, denial: null, rule: null, changes: [] });
    expect(new Set(plain.checks.map(({ outcome }) => outcome))).toEqual(new Set(['passed']));
    expect(warned.checks.at(-1)).toMatchObject({ check: 'caps', outcome: 'warned' });
    expect(factsOf(warned, 'caps')).toEqual(
      expect.arrayContaining([['wouldDeny', ['cap_exceeded/limit_reached'], 'entry']]),
    );
  });

  test('is only for answers to calls, and only for their account', async () => {
    const { acme, service } = await sandbox();
    const { call } = await mailer(acme);
    await call('purge');
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const [created] = (await acme('GET', '/v1/audit/entries?action=agent.created')).json().entries;
    const path = `/v1/audit/${await newest(acme)}/explanation`;

    expect((await acme('GET', path)).statusCode).toBe(200);
    expect(refusalOf(await other('GET', path))).toBe('404 NOT_FOUND');
    expect(refusalOf(await acme('GET', `/v1/audit/${created.entryId}/explanation`))).toBe('404 NOT_FOUND');
  });
});

test('denials are listed by their reason, and counted by it', async () => {
  const { acme, clock } = await sandbox();
  const { call } = await mailer(acme);
  for (const tool of ['purge', 'drop', 'erase', 'list']) await call(tool);
  await call('erase', { reserve: false });
  const span = `from=${new Date(clock().getTime() - 3_600_000).toISOString()}&to=${new Date(clock().getTime() + 1000).toISOString()}`;
  const listed = async (reason: string) => {
    const answer = await acme('GET', `/v1/audit/entries?denial=${encodeURIComponent(reason)}`);
    return answer.json().entries?.map(({ metadata }: { metadata: { tool: string } }) => metadata.tool);
  };

  expect(await listed('manifest_unknown_tool/unknown_tool')).toEqual(['purge', 'drop']);
  expect(await listed('permission_insufficient')).toEqual(['erase', 'erase']);
  expect(await listed('region_mismatch')).toEqual([]);
  expect(refusalOf(await acme('GET', '/v1/audit/entries?denial=other'))).toMatch('400 BAD_REQUEST');
  expect((await acme('GET', `/v1/insights/denials?${span}`)).json()).toMatchObject({
    groups: [
      { reason: 'manifest_unknown_tool/unknown_tool', count: 2 },
      { reason: 'permission_insufficient', count: 1 },
    ],
    total: 3,
  });
});

describe('a refused request', () => {
  const blocked = async (acme: Developer, action: string): Promise<Explanation> => {
    const query = `?action=${action}&order=desc&limit=1`;
    const [{ entryId }] = (await acme('GET', `/v1/audit/entries${query}`)).json().entries;
    return (await acme('GET', `/v1/audit/${entryId}/explanation`)).json();
  };

  test('of consent says which policy stopped it, and the change that it names is accepted', async () => {
    const { acme } = await sandbox();
    const { agentId } = await registerAgent(acme);
    const policy = { name: 'No payments', effect: 'deny', scopes: ['payments:*'] };
    const { id } = (await acme('POST', '/v1/policies', policy)).json();
    const asked = { agentId, principalId: 'user_42', scopes: ['payments:transfer', 'calendar:read'] };
    expect((await acme('POST', '/v1/authorize', asked)).statusCode).toBe(403);

    const explained = await blocked(acme, 'authorization.blocked');
    const [fewer, other] = explained.changes;
    const again = await acme('POST', '/v1/authorize', fewer?.consent);
    await acme('DELETE', `/v1/policies/${id}`);
    const later = await blocked(acme, 'authorization.blocked');

    expect(explained).toMatchObject({
      allowed: false,
      call: { agentId, principalId: 'user_42', connector: null },
      request: { operation: 'authorize', scopes: asked.scopes, refusedScopes: ['payments:transfer'] },
      denial: { reasonCode: 'policy_denied', check: 'policies' },
      rule: {
        kind: 'policy',
        id,
        text: 'No payments',
        conditions: [{ field: 'scopes', condition: 'payments:*', met: 'payments:transfer' }],
      },
    });
    expect(explained.checks).toMatchObject([{ check: 'policies', outcome: 'failed' }]);
    expect(fewer).toMatchObject({ by: 'agent', consent: { scopes: ['calendar:read'] } });
    expect(other).toMatchObject({ by: 'developer', target: { kind: 'policy', id } });
    expect(again.statusCode).toBe(201);
    expect(later.changes.map(({ text }) => text)).toEqual([
      'Ask again: what denied the request has changed since.',
    ]);
  });

  test('of a delegation says what the grant above allows, or which policy stopped it', async () => {
    const { acme } = await sandbox();
    const { grantToken, grantId } = await grantTo(acme, { scopes: ['calendar:read'] });
    const { agentId: subAgentId } = await registerAgent(acme, 'Helper');
    const ask = (scopes: string[]) =>
      acme('POST', '/v1/grants/delegate', { parentGrantToken: grantToken, subAgentId, scopes });
    expect((await ask(['calendar:read', 'email:send'])).statusCode).toBe(400);
    const beyond = await blocked(acme, 'authorization.scope_refused');
    await acme('POST', '/v1/policies', { name: 'Nobody helps', effect: 'deny', agentId: subAgentId });
    expect((await ask(['calendar:read'])).statusCode).toBe(403);

    expect(beyond).toMatchObject({
      request: { operation: 'delegate', refusedScopes: ['email:send'], allowedScopes: ['calendar:read'] },
      denial: { reasonCode: 'scope_exceeded', check: 'scopes' },
      rule: { kind: 'grant', id: grantId },
      changes: [
        { by: 'agent', text: 'Delegate without `email:send`.' },
        { by: 'person', consent: { scopes: ['calendar:read', 'email:send'] } },
      ],
    });
    expect(await blocked(acme, 'policy.denied')).toMatchObject({
      request: { operation: 'delegate', scopes: ['calendar:read'], refusedScopes: [] },
      rule: { kind: 'policy', text: 'Nobody helps', conditions: [{ field: 'agentId', met: subAgentId }] },
      changes: [{ by: 'developer', target: { kind: 'policy' } }],
    });
  });

  test('beyond the scopes of its agent says which those are', async () => {
    const { acme } = await sandbox();
    await acme('PATCH', '/v1/me', { enforceAgentScopes: true });
    const named = { name: 'Reader', scopes: ['calendar:read'] };
    const { agentId } = (await acme('POST', '/v1/agents', named)).json();
    const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read', 'email:send'] };
    expect((await acme('POST', '/v1/authorize', asked)).statusCode).toBe(400);
    const explained = await blocked(acme, 'authorization.scope_refused');
    await acme('PATCH', `/v1/agents/${agentId}`, { scopes: asked.scopes });

    expect(explained).toMatchObject({
      request: { operation: 'authorize', refusedScopes: ['email:send'], allowedScopes: ['calendar:read'] },
      rule: { kind: 'agent', id: agentId, place: 'scopes' },
      changes: [
        { by: 'agent' },
        { by: 'developer', target: { kind: 'agent', id: agentId, place: 'scopes' } },
      ],
    });
    expect((await blocked(acme, 'authorization.scope_refused')).changes).toMatchObject([
      { text: 'Ask again: the agent may have these scopes now.' },
    ]);
  });
});
