import { describe, expect, test } from 'vitest';
import { race } from '../test/race.ts';
import {
  connectPostgres,
  connectRedis,
  counterOf,
  EPOCH,
  newDatabase,
  newTenant,
  redisUrl,
} from '../test/stores.ts';
import { postgresMeter } from './postgres-meter.ts';
import { redisMeter } from './redis-meter.ts';

const CALLS = 400;
const DAY = 86_400_000;

const stores = {
  async redis() {
    const url = redisUrl();
    return { url, meter: redisMeter({ client: await connectRedis(url), epoch: EPOCH, timeoutMs: 60_000 }) };
  },
  async postgres() {
    const url = await newDatabase();
    const meter = postgresMeter({ client: connectPostgres(url), epoch: EPOCH, timeoutMs: 60_000 });
    await meter.install();
    return { url, meter };
  },
};

describe.each(Object.entries(stores))('on %s', (_, open) => {
  test('400 calls at once from two processes pass a cap of 40 exactly 40 times', async () => {
    const [{ url, meter }, tenant, counter] = [await open(), newTenant(), counterOf()];

    const answers = await race({ url, tenant, calls: CALLS, counters: [counter] });

    expect(answers).toHaveLength(CALLS);
    expect(answers.filter((answer) => 'reserved' in answer)).toHaveLength(40);
    expect(answers.filter((answer) => 'full' in answer)).toHaveLength(CALLS - 40);
    expect(await meter.usage(tenant, [counter])).toMatchObject([{ used: 40 }]);
  });

  test('caps of a grant and of its parent hold together, and no call is charged in part', async () => {
    const [{ url, meter }, tenant] = [await open(), newTenant()];
    const counters = [
      counterOf({ key: 'manifest', limit: 60 }),
      counterOf({ key: 'child', limit: 50 }),
      counterOf({ key: 'parent', limit: 45, windowMs: DAY, grainMs: 24_000 }),
      counterOf({ key: 'parent units', limit: 200, units: 5, windowMs: DAY }),
      counterOf({ key: 'case', limit: 70, windowMs: 0, grainMs: 0 }),
    ];
    // The parent has calls of its own. They end at another time, and the child's calls have to share with them.
    for (const id of ['own-1', 'own-2']) await meter.reserve(tenant, id, counters.slice(2, 4));

    const answers = await race({ url, tenant, calls: CALLS, counters });

    expect(answers.filter((answer) => 'reserved' in answer)).toHaveLength(38);
    expect(answers.filter((answer) => 'full' in answer).every((answer) => answer.full === 3)).toBe(true);
    const used = (await meter.usage(tenant, counters)).map((one) => one.used);
    expect(used).toEqual([38, 38, 40, 200, 38]);
  });

  test('counters in any order wait for each other in a circle never', async () => {
    const [{ meter }, tenant] = [await open(), newTenant()];
    const counters = ['a', 'b', 'c', 'd'].map((key) => counterOf({ key, limit: 100 }));

    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) => {
        const some = counters.filter((__, index) => index === at % 3 || index === 3);
        return meter.reserve(tenant, `call-${at}`, at % 2 === 0 ? some : some.toReversed());
      }),
    );

    const used = (await meter.usage(tenant, counters)).map((one) => one.used);
    expect(answers.filter((answer) => 'reserved' in answer)).toHaveLength(100);
    expect(used[3]).toBe(100);
    expect((used[0] ?? 0) + (used[1] ?? 0) + (used[2] ?? 0)).toBe(100);
  });

  test('one call that arrives fifty times at once is charged once', async () => {
    const [{ meter }, tenant, counter] = [await open(), newTenant(), counterOf()];

    const arrivals = Array.from({ length: 50 }, () => meter.reserve(tenant, 'same', [counter]));

    for (const answer of await Promise.all(arrivals)) expect(answer).toMatchObject({ reserved: true });
    expect(await meter.usage(tenant, [counter])).toMatchObject([{ used: 1 }]);
  });

  test('units that come back are taken again, and never twice', async () => {
    const [{ meter }, tenant, counter] = [await open(), newTenant(), counterOf()];
    const ids = (word: string, length: number) => Array.from({ length }, (_, at) => `${word}-${at}`);
    await Promise.all(ids('held', 40).map((id) => meter.reserve(tenant, id, [counter])));

    const [answers] = await Promise.all([
      Promise.all(ids('new', 200).map((id) => meter.reserve(tenant, id, [counter]))),
      ...ids('held', 20).flatMap((id) => [meter.refundUnsent(tenant, id), meter.refundUnsent(tenant, id)]),
    ]);

    const taken = answers.filter((answer) => 'reserved' in answer).length;
    expect(taken).toBeLessThanOrEqual(20);
    expect(await meter.usage(tenant, [counter])).toMatchObject([{ used: 20 + taken }]);
    await Promise.all(ids('last', 200).map((id) => meter.reserve(tenant, id, [counter])));
    expect(await meter.usage(tenant, [counter])).toMatchObject([{ used: 40 }]);
  });
});
