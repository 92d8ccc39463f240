import { randomUUID } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { createClient } from '@redis/client';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { PayerCharges, Settled } from './ephemeral-store.ts';
import { countLeases, LEASE } from './leases.ts';
import { patience } from './patience.ts';
import { connectToServer } from './redis-connection.ts';
import { mergeBills, redisStore } from './redis-store.ts';

const SECONDS = 60;
const billOf = (key: string, limit: number): PayerCharges => {
  return { name: 'only', charges: [{ key, limit, cost: 1, seconds: SECONDS }] };
};

/** Redis, and processes that lease from it over one connection. */
async function openRedis() {
  const connection = connectToServer(inject('redisUrl'), { onLost() {}, onReady() {} });
  await connection.attempted;
  const client = createClient({ url: inject('redisUrl') });
  await client.connect();
  onTestFinished(() => {
    connection.close();
    client.destroy();
  });
  const givingBack = new Set<Promise<void>>();
  const startProcess = () => {
    const state = { commands: 0, isDead: false, losesAnswers: false, onSent: () => {} };
    const leases = countLeases((key, times) => {
      const charges = [{ key, limit: 0, cost: 1, seconds: 0 } as const];
      const given = state.isDead ? Promise.resolve() : connection.commands.takeBack({ charges }, times);
      givingBack.add(given);
      return given;
    });
    const settle = mergeBills(async (bill, times) => {
      state.commands += 1;
      const answer = connection.charge(bill, times);
      state.onSent();
      const settled = await answer;
      if (state.losesAnswers) throw new Error('The answer is lost.');
      return settled;
    }, leases);
    const charge = async (bill: PayerCharges): Promise<Settled> =>
      leases.take([bill])?.get('only') ?? settle(bill);
    return { state, leases, charge };
  };
  return {
    startProcess,
    countOf: async (key: string) => Number(await client.get(key)),
    lose: (key: string) => client.del(key),
    /** Lets time pass for leases, and waits until what is left is given back. */
    async pass(milliseconds: number) {
      vi.advanceTimersByTime(milliseconds);
      await Promise.all(givingBack);
      givingBack.clear();
    },
  };
}

describe('counts that are leased', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
  });

  test('need ever fewer commands, tell each request its own count, and are given back', async () => {
    const { startProcess, countOf, pass } = await openRedis();
    const { state, charge } = startProcess();
    const bill = billOf(`bh:{${randomUUID()}}`, 1000);
    const key = String(bill.charges[0]?.key);
    const commandsFor = async (requests: number) => {
      const before = state.commands;
      const used: unknown[] = [];
      for (let at = 0; at < requests; at += 1) used.push((await charge(bill)).used[0]);
      return { commands: state.commands - before, used };
    };

    // Itself, then two more, then four, eight and sixteen.
    expect(await commandsFor(30)).toEqual({
      commands: 5,
      used: Array.from({ length: 30 }, (_, at) => at + 1),
    });
    expect(await countOf(key)).toBe(1 + 3 + 5 + 9 + 17);
    await pass(LEASE);
    expect(await countOf(key)).toBe(30);
    // As many as in the last time, and itself.
    expect(await commandsFor(1)).toEqual({ commands: 1, used: [31] });
    expect(await countOf(key)).toBe(31 + 12);
    await pass(2 * LEASE);
    expect(await commandsFor(1)).toEqual({ commands: 1, used: [32] });
    expect(await countOf(key)).toBe(32);
  });

  test.each([20, 39])('are none where a twentieth of the limit is one: %i', async (limit) => {
    const { startProcess } = await openRedis();
    const { state, charge } = startProcess();
    const bill = billOf(`bh:{${randomUUID()}}`, limit);

    const outcomes: string[] = [];
    for (let at = 0; at <= limit; at += 1) outcomes.push((await charge(bill)).outcome);

    expect(outcomes).toEqual([...Array(limit).fill('charged'), 'refused']);
    expect(state.commands).toBe(limit + 1);
  });

  test('are never for the last tenth of a limit, nor for counts that are only looked at', async () => {
    const { startProcess } = await openRedis();
    const [one, other] = [startProcess(), startProcess()];
    const bill = billOf(`bh:{${randomUUID()}}`, 100);
    for (let at = 0; at < 90; at += 1) await one.charge(bill);
    const look: PayerCharges = { ...bill, charges: bill.charges.map((charge) => ({ ...charge, cost: 0 })) };

    const before = one.state.commands;
    for (let at = 0; at < 5; at += 1) await one.charge(bill);
    for (let at = 0; at < 5; at += 1) await one.charge(look);
    expect(one.state.commands - before).toBe(10);
    const last = await Promise.all(Array.from({ length: 6 }, () => other.charge(bill)));
    expect(last.map(({ outcome }) => outcome)).toEqual([...Array(5).fill('charged'), 'refused']);
  });

  test('are forgotten when Redis is lost, also those that are on their way', async () => {
    const { startProcess, countOf, pass } = await openRedis();
    const { state, charge, leases } = startProcess();
    const bill = billOf(`bh:{${randomUUID()}}`, 1000);
    for (let at = 0; at < 2; at += 1) await charge(bill);
    state.onSent = leases.forget;
    await Promise.all([charge(bill), charge(bill), charge(bill)]); // with more on their way
    const before = state.commands;
    await charge(bill);

    expect(state.commands - before).toBe(1);
    await pass(2 * LEASE);
    expect(await countOf(String(bill.charges[0]?.key))).toBeGreaterThan(6); // what was leased stays counted
  });

  const anyStep = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ by: fc.nat(2), of: fc.nat(1), requests: fc.integer({ min: 1, max: 25 }) }),
    },
    { weight: 2, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 2 * LEASE }) }) },
    fc.record({ dies: fc.nat(2) }),
    fc.record({ losesAnswers: fc.nat(2) }),
    fc.record({ lost: fc.nat(1), areTold: fc.boolean() }),
  );

  test('let three processes admit no more than a limit for each time that Redis loses the count, and nothing is lost without a loss', async () => {
    const redis = await openRedis();

    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 5, maxLength: 40 }),
        fc.integer({ min: 20, max: 300 }),
        async (steps, limit) => {
          const processes = [redis.startProcess(), redis.startProcess(), redis.startProcess()];
          const bills = [0, 1].map(() => billOf(`bh:{${randomUUID()}}`, limit));
          const keys = bills.map(({ charges }) => String(charges[0]?.key));
          const admitted = [0, 0];
          const losses = [0, 0];
          let isWhole = true; // nothing died, and nothing was lost
          const request = async (by: number, of: number) => {
            const settled = await processes[by]?.charge(bills[of] as PayerCharges).catch(() => undefined);
            if (settled?.outcome === 'charged') admitted[of] = (admitted[of] ?? 0) + 1;
            return settled?.outcome;
          };

          for (const step of steps) {
            if ('requests' in step) {
              const { by, of, requests } = step;
              // A crowd, and then one after another.
              await Promise.all(Array.from({ length: Math.ceil(requests / 2) }, () => request(by, of)));
              for (let at = 0; at < requests / 2; at += 1) await request(by, of);
            } else if ('pass' in step) {
              await redis.pass(step.pass);
            } else {
              isWhole = false;
              if ('lost' in step) {
                losses[step.lost] = (losses[step.lost] ?? 0) + 1;
                await redis.lose(String(keys[step.lost]));
                if (step.areTold) for (const { leases } of processes) leases.forget();
              } else if ('dies' in step) {
                const dead = processes.splice(step.dies, 1, redis.startProcess());
                for (const { state } of dead) state.isDead = true;
              } else if (processes[step.losesAnswers]) {
                const { state } = processes[step.losesAnswers] as (typeof processes)[number];
                state.losesAnswers = !state.losesAnswers;
              }
            }
            for (const of of [0, 1])
              expect(admitted[of]).toBeLessThanOrEqual(limit * (1 + (losses[of] ?? 0)));
          }

          await redis.pass(2 * LEASE);
          if (!isWhole) return;
          for (const of of [0, 1]) {
            expect(await redis.countOf(String(keys[of]))).toBe(admitted[of]);
            while ((await request(of, of)) === 'charged');
            await redis.pass(2 * LEASE);
            expect(admitted[of]).toBe(limit);
          }
        },
      ),
    );
  });
});

describe('T7: a version that is replaced', () => {
  const versionOf = (key: string, expected: string) => ({ key, fresh: 'fresh', seconds: SECONDS, expected });

  test.each([
    ['while processes go by it', false],
    ['when Redis has lost it', true],
  ])('%s, charges nothing once the replacement has returned', async (_, isLost) => {
    const stores = Array.from({ length: 3 }, () => redisStore(inject('redisUrl')));
    const client = createClient({ url: inject('redisUrl') });
    await client.connect();
    onTestFinished(async () => {
      client.destroy();
      for (const store of stores) await store.close();
    });
    const tag = `bh:{${randomUUID()}}`;
    const key = `${tag}:version`;
    const charges = [{ key: `${tag}:rate`, limit: 100_000, cost: 1, seconds: SECONDS } as const];
    const bills = [{ name: 'developer', charges, version: versionOf(key, 'former') }];
    const [first] = stores as [(typeof stores)[number]];
    await first.put([{ key, value: 'former', seconds: SECONDS }]);
    const seen = { leased: 0, late: 0 };
    let [isSlow, isReplaced, isOver] = [false, false, false];
    const users = stores.map(async (store) => {
      while (!isOver) {
        const wasReplaced = isReplaced;
        const leased = store.chargeLeased(bills);
        const { outcome } = (leased ?? (await store.charge(bills))).get('developer') ?? {};
        if (leased) seen.leased += 1;
        if (wasReplaced && outcome !== 'stale') seen.late += 1;
        await (isSlow ? delay(5) : nextTurn());
      }
    });
    await vi.waitUntil(() => seen.leased > 500, { timeout: 20_000 });
    isSlow = true; // now what is leased lasts until its time is over

    if (isLost) await client.del(key);
    await first.replaceVersion({ key, value: 'later', seconds: SECONDS });
    isReplaced = true;
    const leasedBefore = seen.leased;
    await delay(LEASE);
    isOver = true;
    await Promise.all(users);

    expect(seen).toEqual({ leased: leasedBefore, late: 0 });
  });
});

describe('a command', () => {
  let now = 0;
  beforeEach(() => {
    now = 1000;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    vi.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** Lets time pass, of which this process notices only the last moment. */
  const pass = (milliseconds: number) => {
    now += milliseconds;
    vi.advanceTimersByTime(200);
  };
  const asked = () => {
    const heard: string[] = [];
    const wait = patience({
      onSilence: () => heard.push('silence'),
      onAnswer: () => heard.push('answer'),
      failureOf: () => new Error('away'),
    });
    const answer = Promise.withResolvers<string>();
    const outcome = wait('server', () => answer.promise).catch((error: Error) => error.message);
    return { heard, wait, answer, outcome };
  };

  test('is given up when it has no answer for 1800 ms, and so are those after it, until it is answered', async () => {
    const { heard, wait, answer, outcome } = asked();
    for (let sweep = 0; sweep < 8; sweep += 1) pass(200);
    expect(heard).toEqual([]);
    pass(200);
    expect([await outcome, heard]).toEqual(['away', ['silence']]);
    await expect(wait('server', async () => 'never sent')).rejects.toThrow('away');

    answer.resolve('late');
    await answer.promise;
    expect(heard).toEqual(['silence', 'answer']);
    await expect(wait('server', async () => 'sent')).resolves.toBe('sent');
  });

  test('is not given up because this process stood still, which has not read the answer yet', async () => {
    const { heard, answer, outcome } = asked();
    pass(5000);
    answer.resolve('in time');
    expect([await outcome, heard]).toEqual(['in time', []]);
  });

  test('is given up after this process stood still, if there is still no answer', async () => {
    const { heard, outcome } = asked();
    pass(5000);
    pass(200);
    expect([await outcome, heard]).toEqual(['away', ['silence']]);
  });
});
