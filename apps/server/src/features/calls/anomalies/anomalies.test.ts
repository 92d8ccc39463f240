import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { act, detect } from '../../../../test/app/anomalies.ts';
import {
  authorize,
  entriesOf,
  grantTo,
  refusalOf,
  registerAgent,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const typesOf = ({ anomalies }: { anomalies: readonly { type: string }[] }) =>
  anomalies.map(({ type }) => type).sort();

const DAY = 86_400; // seconds
const NOON = 43_200; // seconds

/** A service at the next noon in UTC, when no activity is off hours. */
async function startAtNoon(env: Record<string, string> = {}) {
  const service = await startSandbox({ env });
  const seconds = service.clock().getTime() / 1000;
  service.advance((NOON - (seconds % DAY) + DAY) % DAY);
  return service;
}

test('a spike becomes one alert, which goes on, is acknowledged and resolved, and comes again as another', async () => {
  const { acme } = await startAtNoon();
  const granted = await grantTo(acme);
  const { agentId } = granted;

  await act(acme, granted, 40);
  expect(typesOf(await detect(acme))).toEqual(['new_principal']);
  await act(acme, granted, 20);
  const found = await detect(acme);

  const spike = found.anomalies.find(({ type }) => type === 'rate_spike');
  expect(found).toMatchObject({ total: 2, autoRevokedGrants: 0, detectedAt: expect.any(String) });
  expect(spike).toEqual({
    id: expect.stringMatching(/^anm_/),
    type: 'rate_spike',
    severity: 'high',
    agentId,
    principalId: null,
    description: expect.stringContaining('over the threshold of 50'),
    metadata: { entries: expect.any(Number), window: '1h', threshold: 50, hourlyMean: null },
    detectedAt: found.detectedAt,
    acknowledgedAt: null,
  });

  await detect(acme);
  const { anomalies, total } = (await acme('GET', '/v1/anomalies?unacknowledged=true')).json();
  expect([anomalies.length, total]).toEqual([2, 2]);
  expect((await acme('GET', `/v1/anomaly/alerts/${spike?.id}`)).json()).toMatchObject({
    alertId: spike?.id,
    ruleId: 'rate_spike',
    status: 'open',
    occurrences: 2,
  });

  const acknowledged = await acme('PATCH', `/v1/anomalies/${spike?.id}/acknowledge`);
  expect(acknowledged.json()).toMatchObject({ id: spike?.id, acknowledgedAt: expect.any(String) });
  expect((await acme('PATCH', `/v1/anomalies/${spike?.id}/acknowledge`)).json()).toEqual(acknowledged.json());
  expect((await acme('GET', '/v1/anomalies')).json()).toMatchObject({ total: 1, nextCursor: null });

  const resolve = () => acme('POST', `/v1/anomaly/alerts/${spike?.id}/resolve`, { note: 'A load test.' });
  expect((await resolve()).json()).toMatchObject({ status: 'resolved', note: 'A load test.' });
  expect((await resolve()).statusCode).toBe(200);
  expect((await acme('GET', '/v1/anomalies')).json().total).toBe(1);
  expect((await acme('PATCH', `/v1/anomalies/${spike?.id}/acknowledge`)).json().code).toBe('CONFLICT');
  const again = (await detect(acme)).anomalies.find(({ type }) => type === 'rate_spike');
  expect(again?.id).not.toBe(spike?.id);
  expect(await entriesOf(acme, 'anomaly.detected')).toHaveLength(3);
});

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true, env: { PLAN_FREE_ACTIVE_GRANTS: '100' } });
});
afterAll(() => service.stop()); // seconds
const HOUR = 3600;

/** Moves the clock to the next time of day in UTC. @param seconds after midnight */
function comeTo(seconds: number): void {
  const now = service.clock().getTime() / 1000;
  service.advance((seconds - (now % DAY) + DAY) % DAY || DAY);
}

async function foundOf(acme: Developer, type: string): Promise<boolean> {
  return (await detect(acme)).anomalies.some((each) => each.type === type);
}

async function revokeSix(acme: Developer, secondsToTheLast: number): Promise<void> {
  const { agentId } = await registerAgent(acme);
  const grants: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const { code } = await authorize(acme, agentId);
    grants.push((await acme('POST', '/v1/token', { code, agentId })).json().grantId);
  }
  for (const grantId of grants.slice(0, 5)) await acme('DELETE', `/v1/grants/${grantId}`);
  service.advance(secondsToTheLast);
  await acme('DELETE', `/v1/grants/${grants[5]}`);
}

async function spendTwice(acme: Developer, secondsBetween: number): Promise<void> {
  const { grantId } = await grantTo(acme);
  await acme('POST', '/v1/budget/allocate', { grantId, initialBudget: '100' });
  await acme('POST', '/v1/budget/debit', { grantId, amount: '1' });
  service.advance(secondsBetween);
  await acme('POST', '/v1/budget/debit', { grantId, amount: '89' });
}

/** Asks three times for a scope that the agent is not registered for. */
async function askTooMuch(acme: Developer, times = 3): Promise<string> {
  await acme('PATCH', '/v1/me', { enforceAgentScopes: true });
  const { agentId } = (await acme('POST', '/v1/agents', { name: 'Narrow', scopes: ['mail:read'] })).json();
  for (let n = 0; n < times; n += 1) {
    const asked = { agentId, principalId: 'user_42', scopes: ['mail:send'] };
    expect(refusalOf(await acme('POST', '/v1/authorize', asked))).toBe('400 INVALID_SCOPE');
  }
  return agentId;
}

describe('the window of', () => {
  test.each<[string, number, (acme: Developer) => Promise<unknown>]>([
    ['rate_spike', HOUR, async (acme) => act(acme, await grantTo(acme), 51)],
    ['scope_escalation', HOUR, (acme) => askTooMuch(acme)],
    ['high_failure_rate', DAY, async (acme) => act(acme, await grantTo(acme), 5, { status: 'failure' })],
    ['new_principal', DAY, (acme) => grantTo(acme)],
    ['rapid_revocation', DAY, (acme) => revokeSix(acme, 0)],
    ['budget_cliff', DAY, (acme) => spendTwice(acme, 0)],
  ])('%s ends to the second', async (type, seconds, prepare) => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    comeTo(12 * HOUR);
    await prepare(acme);

    service.advance(seconds - 1);
    expect(await foundOf(acme, type)).toBe(true);
    service.advance(1);
    expect(await foundOf(acme, type)).toBe(false);
  });

  test.each([
    ['5m', 300],
    ['15m', 900],
    ['1h', HOUR],
    ['6h', 6 * HOUR],
    ['24h', DAY],
  ])('an own rule over %s ends to the second, and fires above its threshold', async (timeWindow, seconds) => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const condition = { timeWindow, threshold: 2, actions: ['mail.*'] };
    await acme('POST', '/v1/anomaly/rules', { ruleId: 'mails', name: 'Mails', condition });
    const granted = await grantTo(acme);
    await act(acme, granted, 2);
    expect(await foundOf(acme, 'mails')).toBe(false);
    await act(acme, granted, 1);

    service.advance(seconds - 1);
    expect(await foundOf(acme, 'mails')).toBe(true);
    service.advance(1);
    expect(await foundOf(acme, 'mails')).toBe(false);
  });
});

test.each([
  ['21:59:59', 22 * HOUR - 1, false],
  ['22:00:00', 22 * HOUR, true],
  ['05:59:59', 6 * HOUR - 1, true],
  ['06:00:00', 6 * HOUR, false],
])('work at %s is off hours: %s', async (_, seconds, isOff) => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  comeTo(12 * HOUR);
  const granted = await grantTo(acme);
  comeTo(seconds);
  await act(acme, granted, 11);

  expect(await foundOf(acme, 'off_hours_activity')).toBe(isOff);
});

test.each([
  [60, true],
  [61, false],
])('six revocations within %i seconds are rapid: %s', async (seconds, isRapid) => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await revokeSix(acme, seconds);

  expect(await foundOf(acme, 'rapid_revocation')).toBe(isRapid);
});

test.each([
  [HOUR, true],
  [HOUR + 1, false],
])('a budget spent within %i seconds of its first debit is a cliff: %s', async (seconds, isCliff) => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await spendTwice(acme, seconds);

  expect(await foundOf(acme, 'budget_cliff')).toBe(isCliff);
});

describe('a refusal of scopes', () => {
  test('beyond those of the agent has an entry of its own, and the third in an hour is an anomaly', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const agentId = await askTooMuch(acme, 2);
    expect(await foundOf(acme, 'scope_escalation')).toBe(false);
    await acme('POST', '/v1/authorize', {
      agentId,
      principalId: 'user_42',
      scopes: ['mail:read', 'mail:send'],
    });

    const { anomalies } = await detect(acme);
    expect(anomalies).toMatchObject([{ type: 'scope_escalation', agentId }]);
    const entries = await entriesOf(acme, 'authorization.scope_refused');
    expect(entries).toHaveLength(3);
    expect(entries[0]).toMatchObject({
      status: 'blocked',
      agentId,
      principalId: 'user_42',
      metadata: { operation: 'authorize', reason: 'scope_exceeded', scopes: ['mail:send'] },
    });
  });

  test('beyond those of the parent grant is one of the agent that delegates', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { agentId, grantId, grantToken } = await grantTo(acme);
    const { agentId: subAgentId } = await registerAgent(acme, 'Helper');
    for (let n = 0; n < 3; n += 1) {
      const asked = { parentGrantToken: grantToken, subAgentId, scopes: ['payments:send'] };
      expect(refusalOf(await acme('POST', '/v1/grants/delegate', asked))).toBe('400 INVALID_SCOPE');
    }

    const { anomalies } = await detect(acme);
    const escalations = anomalies.filter(({ type }) => type === 'scope_escalation');
    expect(escalations).toMatchObject([{ agentId }]);
    expect((await entriesOf(acme, 'authorization.scope_refused'))[0]).toMatchObject({
      ...{ agentId, grantId },
      metadata: { operation: 'delegate', scopes: ['payments:send'] },
    });
  });

  test('in another form than scopes have has no entry', async () => {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { agentId } = await registerAgent(acme);
    await acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['no scope'] });

    expect(await entriesOf(acme, 'authorization.scope_refused')).toEqual([]);
  });
});

test.each([
  [HOUR - 1, 1],
  [HOUR, 0],
])('an alert of %i seconds ago is among those of the last hour: %i', async (seconds, total) => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await grantTo(acme);
  await detect(acme);
  service.advance(seconds);

  expect((await acme('GET', '/v1/anomaly/metrics?window=1h')).json().total).toBe(total);
});
