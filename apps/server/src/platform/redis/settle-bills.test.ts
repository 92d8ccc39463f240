import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import type { Charge, PayerCharges } from './ephemeral-store.ts';
import { countLeases } from './leases.ts';
import { memoryStore } from './memory-store.ts';
import { mergeBills, redisStore, settleBills } from './redis-store.ts';

const billOf = (name: string, limit: number, key = name): PayerCharges => {
  return { name, charges: [{ key, limit, cost: 1, seconds: 60 }] };
};

/** Settles bills over memory, and writes down each command when it leaves. */
function watched() {
  const store = memoryStore(() => new Date());
  const commands: string[] = [];
  const counts = new Map<string, number>();
  const settle = async (bill: PayerCharges) => {
    commands.push(bill.name);
    await new Promise(setImmediate);
    const settled = (await store.charge([bill])).get(bill.name);
    if (!settled) throw new Error('The store did not settle the bill.');
    if (settled.outcome === 'charged') counts.set(bill.name, (counts.get(bill.name) ?? 0) + 1);
    return settled;
  };
  const takeBack = async ({ name }: PayerCharges) => {
    commands.push(`back ${name}`);
    counts.set(name, (counts.get(name) ?? 0) - 1);
  };
  return { charge: settleBills({ settle, takeBack }), commands, counts };
}

describe('the bills of a request', () => {
  test('leave together, and what was charged in vain is taken back', async () => {
    const { charge, commands, counts } = watched();
    const [address, developer] = [billOf('address', 20), billOf('developer', 99)];

    await Promise.all(Array.from({ length: 30 }, () => charge([address, developer])));

    expect(commands.slice(0, 4)).toEqual(['address', 'developer', 'address', 'developer']);
    expect(commands.filter((command) => command === 'back developer')).toHaveLength(10);
    expect(Object.fromEntries(counts)).toEqual({ address: 20, developer: 20 });
  });

  test('wait for a bill before them whose limit is nearly used up', async () => {
    const { charge, commands } = watched();
    const [address, developer] = [billOf('address', 20), billOf('developer', 99)];
    for (let call = 0; call < 18; call += 1) await charge([address, developer]);

    commands.length = 0;
    await Promise.all(Array.from({ length: 30 }, () => charge([address, developer])));

    expect(commands.filter((command) => command === 'developer')).toHaveLength(2);
    expect(commands).not.toContain('back developer');
  });
});

describe('bills of one turn', () => {
  test('that are alike leave as one command, and each is told its own count', async () => {
    const store = redisStore(inject('redisUrl'));
    onTestFinished(() => store.close());
    const key = `bh:{${randomUUID()}}`;
    const spend = async (cost: Charge['cost'], limit = 20) =>
      (await store.charge([{ name: 'only', charges: [{ key, limit, cost, seconds: 60 }] }])).get('only');
    const counts = (all: readonly Awaited<ReturnType<typeof spend>>[]) => all.map((each) => each?.used[0]);
    await spend(1);

    expect(counts(await Promise.all([spend(1), spend(1), spend(0), spend(1), spend(1, 30)]))).toEqual([
      2, 3, 4, 4, 5,
    ]);
    expect(counts(await Promise.all([spend(0), spend(0)]))).toEqual([5, 5]);
  });

  test('go alone where a limit has no room for all, and share a failure', async () => {
    const sent: number[] = [];
    let room = 2;
    const settle = mergeBills(
      async (_, times) => {
        sent.push(times);
        if (times > 3) throw new Error('away');
        if (times > room) return { outcome: 'refused', used: [2 - room] };
        room -= times;
        return { outcome: 'charged', used: [2 - room] };
      },
      countLeases(async () => {}),
    );
    const bill = billOf('developer', 2);

    const all = await Promise.all([settle(bill), settle(bill), settle({ ...bill, name: 'again' })]);
    expect(sent).toEqual([3, 1, 1, 1]);
    expect(all.map(({ outcome, used: [count] }) => [outcome, count])).toEqual([
      ['charged', 1],
      ['charged', 2],
      ['refused', 2],
    ]);
    const failed = await Promise.allSettled([settle(bill), settle(bill), settle(bill), settle(bill)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
  });
});

/**
 * The bound that docs/design/redis.md states, over two processes and the real Redis: addresses and developers with little room,
 * and any number of requests at once.
 */
test('a crowd gets no more than the limits, pays for no refusal, and is refused early only by charges in vain', async () => {
  const stores = [redisStore(inject('redisUrl')), redisStore(inject('redisUrl'))] as const;
  onTestFinished(async () => {
    for (const store of stores) await store.close();
  });
  const anyRequest = fc.record({
    by: fc.constantFrom(0, 1),
    address: fc.constantFrom('home', 'office'),
    developer: fc.constantFrom('acme', 'other'),
  });
  const limit = fc.integer({ min: 1, max: 12 });

  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRequest, { maxLength: 60 }),
      limit,
      limit,
      async (crowd, ofAddress, ofDeveloper) => {
        const run = randomUUID();
        const chargeOf = (name: string, most: number, cost: Charge['cost']): Charge => {
          return { key: `bh:{${run}:${name}}`, limit: most, cost, seconds: 60 };
        };
        const answers = crowd.map(async ({ by, address, developer }) => {
          const settled = await stores[by].charge([
            { name: 'address', charges: [chargeOf(address, ofAddress, 1)] },
            { name: 'developer', charges: [chargeOf(developer, ofDeveloper, 1)] },
          ]);
          const outcomes = [settled.get('address')?.outcome, settled.get('developer')?.outcome];
          return { address, developer, passed: outcomes.map((outcome) => outcome === 'charged') };
        });
        const all = await Promise.all(answers);

        for (const name of ['home', 'office']) {
          const asked = all.filter(({ address }) => address === name);
          const passed = asked.filter(({ passed: [first] }) => first);
          expect(passed).toHaveLength(Math.min(asked.length, ofAddress));
          expect(await countOf(name)).toBe(passed.length);
        }
        for (const name of ['acme', 'other']) {
          const asked = all.filter(({ developer }) => developer === name);
          const passed = asked.filter(({ passed: [, second] }) => second);
          const letThrough = asked.filter(({ passed: [first] }) => first);
          const inVain = asked.length - letThrough.length; // charges that were taken back, at most
          expect(passed.length).toBeLessThanOrEqual(ofDeveloper);
          expect(passed.length).toBeGreaterThanOrEqual(Math.min(letThrough.length, ofDeveloper - inVain));
          expect(await countOf(name)).toBe(passed.length);
        }

        async function countOf(name: string) {
          const bill = { name, charges: [chargeOf(name, 1000, 0)] };
          return (await stores[0].charge([bill])).get(name)?.used[0];
        }
      },
    ),
  );
});
