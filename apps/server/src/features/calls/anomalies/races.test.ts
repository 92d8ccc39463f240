import { afterAll, expect, test } from 'vitest';
import { afterStatements } from '../../../../test/app/after-statements.ts';
import { detect } from '../../../../test/app/anomalies.ts';
import { entriesOf, grantTo } from '../../../../test/app/flow.ts';
import { untilWaiting } from '../../../../test/app/interleaving.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { leaveLease, takeLease } from './anomalies.repo.ts';
import { runDetection } from './detect.ts';

/** Comes between two statements of the service that detects, once. */
let enter: (() => Promise<unknown>) | undefined;
const meanwhile = (word: string) =>
  afterStatements(word, async () => {
    const act = enter;
    enter = undefined;
    await act?.();
  });
const services: Promise<Service>[] = [];
const serviceThat = (word?: string) => {
  const started = startApp({
    isShared: true,
    ...(word !== undefined && { dbAs: (db) => db.withPlugin(meanwhile(word)) }),
  });
  services.push(started);
  return started;
};
afterAll(async () => {
  for (const each of services) await (await each).stop();
});

/** A developer with a grant that is news, as two instances see the developer. */
async function onTwo(word: string) {
  const [here, there] = [await serviceThat(word), await serviceThat()];
  const acme = await there.asDeveloper({ mode: 'sandbox' });
  await grantTo(acme);
  const seen = Object.assign(here.calling(acme.apiKey), acme);
  const alerts = async () => (await acme('GET', '/v1/anomaly/alerts')).json().data;
  return { here, there, acme, seen, alerts };
}

/** The first statements that name these words are before the counting, and the reading of what was found. */
const BEFORE = 'anomaly_states';
const HAS_READ = 'principal_id';

test.each([
  ['begins to count', BEFORE],
  ['has read what was found', HAS_READ],
])('two detections at once find one thing once: the second comes when the first %s', async (_, word) => {
  const { acme, seen, alerts } = await onTwo(word);

  enter = () => detect(acme);
  const found = await detect(seen);

  expect(enter).toBeUndefined();
  expect(found.anomalies.map(({ type }) => type)).toEqual(['new_principal']);
  expect(await alerts()).toMatchObject([{ ruleId: 'new_principal', status: 'open', occurrences: 2 }]);
  expect(await entriesOf(acme, 'anomaly.detected')).toHaveLength(1);
  expect((await acme('GET', '/v1/anomalies')).json().total).toBe(1);
});

test.each([
  ['acknowledge', 'acknowledged', 2],
  ['resolve', 'resolved', 1],
])(
  'an alert on which somebody calls %s while a detection has read its cause stays %s',
  async (word, status, occurrences) => {
    const { acme, seen, alerts } = await onTwo(HAS_READ);
    const [known] = (await detect(acme)).anomalies;

    enter = () => acme('POST', `/v1/anomaly/alerts/${known?.id}/${word}`, {});
    await detect(seen);

    expect(enter).toBeUndefined();
    expect(await alerts()).toMatchObject([{ alertId: known?.id, status, occurrences }]);
  },
);

test('an alert that somebody resolves while a detection writes it again stays resolved', async () => {
  const { acme, seen, alerts, there } = await onTwo(HAS_READ);
  const [known] = (await detect(acme)).anomalies;
  let resolving: ReturnType<typeof acme> | undefined;
  const resolve = async () => {
    resolving = acme('POST', `/v1/anomaly/alerts/${known?.id}/resolve`, {});
    await untilWaiting(there.db, resolving);
  };

  // The first reading is before the transaction that writes, and the second in it.
  enter = async () => {
    enter = resolve;
  };
  await detect(seen);

  expect((await resolving)?.statusCode).toBe(200);
  expect(await alerts()).toMatchObject([{ alertId: known?.id, status: 'resolved', occurrences: 2 }]);
});

test('the periodic run leaves a developer to the instance that has the lease, for ten minutes at most', async () => {
  const service = await serviceThat();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await grantTo(acme);
  await detect(acme);
  const { db, clock } = service;
  const failures: unknown[] = [];
  const run = () =>
    runDetection({ db, clock, onFailure: (error) => failures.push(error) }, new AbortController().signal);
  const occurrences = async () => (await acme('GET', '/v1/anomaly/alerts')).json().data[0].occurrences;
  const until = new Date(clock().getTime() + 600_000);

  expect(await takeLease(db, acme, clock(), until)).toBe(true);
  expect(await takeLease(db, acme, clock(), until)).toBe(false);
  await run();
  expect(await occurrences()).toBe(1);
  await leaveLease(db, acme, until);
  await run();
  expect(await occurrences()).toBe(2);

  await takeLease(db, acme, clock(), until);
  service.advance(599);
  await run();
  expect(await occurrences()).toBe(2);
  service.advance(1);
  await run();
  expect(await occurrences()).toBe(3);
  expect(failures).toEqual([]);
});
