import { expect, test } from 'vitest';
import { act, detect } from '../../../../test/app/anomalies.ts';
import { entriesOf, grantTo, startSandbox } from '../../../../test/app/flow.ts';

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
  expect((await acme('PATCH', `/v1/anomalies/${spike?.id}/acknowledge`)).json().code).toBe('CONFLICT');
  const again = (await detect(acme)).anomalies.find(({ type }) => type === 'rate_spike');
  expect(again?.id).not.toBe(spike?.id);
  expect(await entriesOf(acme, 'anomaly.detected')).toHaveLength(3);
});
