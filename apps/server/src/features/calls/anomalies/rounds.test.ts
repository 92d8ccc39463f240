import { afterAll, beforeAll, expect, test } from 'vitest';
import { act, detect } from '../../../../test/app/anomalies.ts';
import { grantTo } from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { countTo } from './count.ts';
import { runDetection } from './detect.ts';

const HOUR = 3600; // seconds
const DAY = 24 * HOUR;

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

/** A round of the periodic detection, with one chain in a read. */
async function round(): Promise<void> {
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  await runDetection({ ...service, onFailure, batch: 1 }, new AbortController().signal);
  expect(failures).toEqual([]);
}

const stateOf = ({ developerId }: Developer) =>
  service.db
    .selectFrom('anomalyStates')
    .selectAll()
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();

/** Whether a round looks at the account. */
async function isLookedAt(acme: Developer): Promise<boolean> {
  service.advance(1);
  await round();
  return (await stateOf(acme)).ranAt?.getTime() === service.clock().getTime();
}

const alertsOf = async (acme: Developer) => (await acme('GET', '/v1/anomaly/alerts')).json().data;

/** An account at noon, when nothing is off hours, whose agent got a grant a day ago, so that no rule fires. */
async function silent() {
  service.advance(DAY - ((service.clock().getTime() / 1000 + 12 * HOUR) % DAY));
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const granted = await grantTo(acme);
  await round();
  service.advance(DAY);
  await round();
  return { acme, granted };
}

test('an account without new entries and findings is not looked at, and one with an entry is', async () => {
  const { acme, granted } = await silent();
  const other = await silent();

  expect(await isLookedAt(acme)).toBe(false);
  await act(acme, granted, 1);
  expect(await isLookedAt(acme)).toBe(true);
  expect((await stateOf(other.acme)).ranAt).not.toEqual((await stateOf(acme)).ranAt);
  expect(await isLookedAt(acme)).toBe(false);
});

test('an alert goes on in each round while its rule fires, without new entries', async () => {
  const { acme, granted } = await silent();
  await act(acme, granted, 5, { status: 'failure' });
  await round();
  await round();
  const [before] = await alertsOf(acme);
  expect(before).toMatchObject({ ruleId: 'high_failure_rate' });

  service.advance(DAY - 1);
  await round();
  const [last] = await alertsOf(acme);
  expect(last).toMatchObject({ alertId: before.alertId, occurrences: before.occurrences + 1 });
  service.advance(1);
  await round();
  expect(await alertsOf(acme)).toMatchObject([last, {}]);
  expect(await isLookedAt(acme)).toBe(false);
});

test('a share of failures that rises only because successes leave the window is found', async () => {
  const { acme, granted } = await silent();
  await act(acme, granted, 30);
  service.advance(12 * HOUR);
  await act(acme, granted, 5, { status: 'failure' });
  await round();
  expect((await alertsOf(acme)).map(({ ruleId }: { ruleId: string }) => ruleId)).not.toContain(
    'high_failure_rate',
  );

  service.advance(12 * HOUR);
  await round();

  expect((await alertsOf(acme))[0]).toMatchObject({ ruleId: 'high_failure_rate', occurrences: 1 });
});

test('a new rule is held against the entries that are there', async () => {
  const { acme, granted } = await silent();
  await act(acme, granted, 3);
  await round();
  expect(await isLookedAt(acme)).toBe(false);

  const condition = { timeWindow: '24h', threshold: 2, actions: ['mail.*'] };
  const rule = { ruleId: 'mails', name: 'Mails', condition };
  expect((await acme('POST', '/v1/anomaly/rules', rule)).statusCode).toBe(201);
  await passOver(acme); // the entry of the change would bring a look too
  await round();

  expect((await alertsOf(acme))[0]).toMatchObject({ ruleId: 'mails' });
});

/** Makes the last entries seem counted. */
async function passOver({ developerId }: Developer): Promise<void> {
  const chain = service.db.selectFrom('auditHeads').where('developerId', '=', developerId);
  const { seq } = await chain.select('seq').executeTakeFirstOrThrow();
  const state = service.db.updateTable('anomalyStates').where('developerId', '=', developerId);
  await state.set({ head: seq }).execute();
}

test('what a process counted that ended before it wrote its alerts is found by the next round', async () => {
  const { acme, granted } = await silent();
  await act(acme, granted, 5, { status: 'failure' });
  await countTo(service, acme, service.clock());
  const state = await stateOf(acme);
  await round();

  expect((await alertsOf(acme))[0]).toMatchObject({ ruleId: 'high_failure_rate' });
  expect((await stateOf(acme)).head).toBe(state.head);
});

test('the counts of an account go once its last entry has left the windows', async () => {
  const { acme } = await silent();
  const counts = () =>
    service.db.selectFrom('anomalyCounts').selectAll().where('developerId', '=', acme.developerId).execute();
  expect(await counts()).not.toEqual([]);

  service.advance(8 * DAY);
  expect(await isLookedAt(acme)).toBe(true);

  expect(await counts()).toEqual([]);
  expect(await isLookedAt(acme)).toBe(false);
  expect((await detect(acme)).total).toBe(0);
});
