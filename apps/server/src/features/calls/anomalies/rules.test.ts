import { expect, test } from 'vitest';
import { act, detect } from '../../../../test/app/anomalies.ts';
import { authorize, entriesOf, grantTo, registerAgent, startSandbox } from '../../../../test/app/flow.ts';

test('a rule of the developer counts what matches, may revoke, is changed and goes', async () => {
  const { acme } = await startSandbox();
  const granted = await grantTo(acme);
  await act(acme, granted, 3, { action: 'mail.sent' });
  const condition = {
    timeWindow: '1h',
    threshold: 2,
    actions: ['mail.*'],
    scopes: ['email:send'],
    statuses: ['success'],
  };
  const rule = { ruleId: 'many_mails', name: 'Many mails', response: 'revoke_grants', condition };

  const created = await acme('POST', '/v1/anomaly/rules', rule);
  expect(created.statusCode).toBe(201);
  expect(created.json()).toEqual({
    ...rule,
    id: expect.stringMatching(/^arule_/),
    builtIn: false,
    severity: 'medium',
    description: '',
    enabled: true,
    alertChannels: [],
    createdAt: expect.any(String),
  });
  expect((await acme('POST', '/v1/anomaly/rules', rule)).json().code).toBe('CONFLICT');
  const { rules } = (await acme('GET', '/v1/anomaly/rules')).json();
  expect(rules.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual([
    'rate_spike',
    'high_failure_rate',
    'off_hours_activity',
    'new_principal',
    'token_replay',
    'scope_escalation',
    'rapid_revocation',
    'budget_cliff',
    'many_mails',
  ]);

  const found = await detect(acme);
  expect(found.autoRevokedGrants).toBe(1);
  expect((await acme('GET', `/v1/grants/${granted.grantId}`)).json()).toMatchObject({
    status: 'revoked',
    revokedReason: 'anomaly',
  });
  const [revoked] = await entriesOf(acme, 'anomaly.auto_revoked');
  expect(revoked?.metadata).toMatchObject({ revokedGrants: 1, actor: 'system' });

  const changed = await acme('PATCH', '/v1/anomaly/rules/many_mails', {
    condition: { ...condition, threshold: 3 },
  });
  expect(changed.json().condition.threshold).toBe(3);
  const after = await detect(acme);
  expect(after.anomalies.filter(({ type }) => type === 'many_mails')).toEqual([]);
  expect((await acme('DELETE', `/v1/anomaly/rules/${created.json().id}`)).statusCode).toBe(204);
  expect((await acme('DELETE', '/v1/anomaly/rules/many_mails')).statusCode).toBe(404);
});

test('a built-in rule is set for one account, and is not deleted', async () => {
  const { acme, service } = await startSandbox();
  const other = await service.asDeveloper({ mode: 'sandbox' });
  const granted = await grantTo(acme);

  const changed = await acme('PATCH', '/v1/anomaly/rules/new_principal', {
    severity: 'critical',
    response: 'suspend_agent',
  });
  expect(changed.json()).toMatchObject({
    builtIn: true,
    severity: 'critical',
    response: 'suspend_agent',
    enabled: true,
  });
  expect((await acme('PATCH', '/v1/anomaly/rules/new_principal', { name: 'Mine' })).statusCode).toBe(400);
  expect((await acme('DELETE', '/v1/anomaly/rules/new_principal')).json().code).toBe('CONFLICT');
  expect((await other('GET', '/v1/anomaly/rules')).json().rules[3]).toMatchObject({
    severity: 'low',
    response: 'none',
  });

  expect((await detect(acme)).anomalies).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ type: 'new_principal', severity: 'critical', principalId: 'user_42' }),
    ]),
  );
  expect((await acme('GET', `/v1/agents/${granted.agentId}`)).json().status).toBe('suspended');
});

test('failures, revocations at once, replays and budgets spent at once are found', async () => {
  const { acme } = await startSandbox();
  const failing = await grantTo(acme);
  await act(acme, failing, 3, { status: 'failure' });
  await act(acme, failing, 3);
  const spending = await grantTo(acme);
  await acme('POST', '/v1/budget/allocate', { grantId: spending.grantId, initialBudget: '100' });
  await acme('POST', '/v1/budget/debit', { grantId: spending.grantId, amount: '90' });
  const { agentId } = await registerAgent(acme);
  for (let n = 0; n < 6; n += 1) {
    const { code } = await authorize(acme, agentId);
    const { grantId } = (await acme('POST', '/v1/token', { code, agentId })).json();
    await acme('DELETE', `/v1/grants/${grantId}`);
  }
  const replayed = await grantTo(acme);
  await acme('POST', '/v1/token/refresh', { refreshToken: replayed.refreshToken, agentId: replayed.agentId });
  await acme('POST', '/v1/token/refresh', { refreshToken: replayed.refreshToken, agentId: replayed.agentId });

  const { anomalies } = await detect(acme);
  const agentsOf = (type: string) =>
    anomalies.filter((each) => each.type === type).map((each) => each.agentId);

  expect(agentsOf('high_failure_rate')).toEqual([failing.agentId]);
  expect(agentsOf('budget_cliff')).toEqual([spending.agentId]);
  expect(agentsOf('rapid_revocation')).toEqual([agentId]);
  expect(agentsOf('token_replay')).toEqual([replayed.agentId]);
  const metrics = (await acme('GET', '/v1/anomaly/metrics')).json();
  expect(metrics).toMatchObject({ window: '24h', bySeverity: { critical: 1 }, byRule: { token_replay: 1 } });
  expect((await acme('GET', '/v1/anomaly/metrics?window=2h')).statusCode).toBe(400);
});

test.each([
  [60, 1],
  [61, 0],
])('six revocations within %i seconds are %i alert', async (seconds, alerts) => {
  const { acme, advance } = await startSandbox();
  const { agentId } = await registerAgent(acme);
  const grantIds: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const { code } = await authorize(acme, agentId);
    grantIds.push((await acme('POST', '/v1/token', { code, agentId })).json().grantId);
  }
  for (const [at, grantId] of grantIds.entries()) {
    if (at === 1) advance(seconds);
    await acme('DELETE', `/v1/grants/${grantId}`);
  }

  const { anomalies } = await detect(acme);

  expect(anomalies.filter(({ type }) => type === 'rapid_revocation')).toHaveLength(alerts);
});
