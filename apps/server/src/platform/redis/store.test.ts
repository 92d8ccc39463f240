import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { createClient } from '@redis/client';
import fc from 'fast-check';
import { afterAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { startRedisCluster } from '../../../test/servers/redis-cluster.ts';
import type { Charge, EphemeralStore } from './ephemeral-store.ts';
import { memoryStore } from './memory-store.ts';
import { openStore } from './open-store.ts';
import { slotOf } from './redis-connection.ts';
import { redisStore } from './redis-store.ts';

const cluster = await startRedisCluster();
afterAll(() => cluster.remove());

/** The promises of the port, which every adapter keeps. `own` keeps one test's keys apart from another's. */
const adapters: [string, () => EphemeralStore][] = [
  ['in memory', () => memoryStore(() => new Date())],
  ['in Redis', () => redisStore(inject('redisUrl'))],
  ['in a Redis Cluster', () => redisStore(cluster.url)],
];

async function spendOne(store: EphemeralStore, charges: readonly Charge[]) {
  return (await store.charge([{ name: 'only', charges }])).get('only');
}

describe.each(adapters)('a store %s', (_, create) => {
  const open = () => {
    const store = create();
    onTestFinished(() => store.close());
    const tag = randomUUID();
    const key = (name: string) => `bh:{${tag}}:${name}`;
    const charge = (name: string, limit: number, cost: Charge['cost'] = 1) => ({
      key: key(name),
      limit,
      cost,
      seconds: 60,
    });
    return { store, key, charge };
  };

  test('gives back what it keeps, until it is removed', async () => {
    const { store, key } = open();

    await store.put([
      { key: key('a'), value: 'one', seconds: 60 },
      { key: `bh:{${randomUUID()}}`, value: 'elsewhere', seconds: 60 },
      { key: key('b'), value: 'Ünïcode \0 "', seconds: 60 },
    ]);

    expect([await store.get(key('a')), await store.get(key('b'))]).toEqual(['one', 'Ünïcode \0 "']);
    await store.put([{ key: key('a'), value: 'two', seconds: 60 }]);
    expect(await store.get(key('a'))).toBe('two');
    await store.remove(key('a'));
    await store.remove(key('a'));
    expect(await store.get(key('a'))).toBeUndefined();
    expect(await store.get(key('never'))).toBeUndefined();
  });

  test('goes on while a test holds the clock, and after it', async () => {
    const { store, key } = open();
    await store.get(key('a'));
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());

    await store.put([{ key: key('a'), value: 'one', seconds: 60 }]);
    vi.useRealTimers();

    expect(await store.get(key('a'))).toBe('one');
  });

  test('keeps texts for another time, and brings back none that is gone', async () => {
    const { store, key } = open();
    await store.put(['a', 'b'].map((name) => ({ key: key(name), value: name, seconds: 60 })));
    await store.put([{ key: key('c'), value: 'c', seconds: 1 }]);

    await store.keepFor([key('a'), key('gone')], 1);
    await store.keepFor([key('c')], 60);
    const before = await store.get(key('a'));

    expect(before).toBe('a');
    await vi.waitFor(async () => expect(await store.get(key('a'))).toBeUndefined(), { timeout: 5000 });
    expect([await store.get(key('b')), await store.get(key('c'))]).toEqual(['b', 'c']);
    expect(await store.get(key('gone'))).toBeUndefined();
  });

  test('has a number of slots, and owners keep theirs', async () => {
    const { store, key } = open();
    const takeSlot = (owner: string, seconds = 60) =>
      store.takeSlot({ key: key('slots'), owner, most: 2, seconds });

    expect([await takeSlot('a'), await takeSlot('b'), await takeSlot('c')]).toEqual([true, true, false]);
    expect([await takeSlot('a'), await takeSlot('b')]).toEqual([true, true]); // kept, and not taken twice
    await store.freeSlot({ key: key('slots'), owner: 'a' });
    expect([await takeSlot('c'), await takeSlot('a')]).toEqual([true, false]);
    await store.freeSlot({ key: key('nowhere'), owner: 'a' });
  });

  test('gives a slot to another owner when its time is over', async () => {
    const { store, key } = open();
    const slot = { key: key('slots'), most: 1, seconds: 1 };
    await store.takeSlot({ ...slot, owner: 'a' });
    expect(await store.takeSlot({ ...slot, owner: 'b' })).toBe(false);

    await vi.waitUntil(() => store.takeSlot({ ...slot, owner: 'b' }), { timeout: 5000, interval: 100 });

    expect(await store.takeSlot({ ...slot, owner: 'a' })).toBe(false);
  });

  test('calls listeners, until they no longer listen', async () => {
    const { store, key } = open();
    const heard: string[] = [];
    const stop = store.subscribe(key('here'), (hint) => void heard.push(`one ${hint}`));
    store.subscribe(key('here'), (hint) => void heard.push(`other ${hint}`));
    const saying = (hint: string) => async () => {
      await store.publish(key('here'), hint);
      return heard.some((each) => each.endsWith(hint));
    };
    await vi.waitUntil(saying('first'), { timeout: 5000, interval: 20 }); // listening takes a trip to Redis

    stop();
    heard.length = 0;
    await store.publish(key('elsewhere'), 'elsewhere');
    await vi.waitUntil(saying('second'), { timeout: 5000, interval: 20 });

    const late = 'other first'; // hints pass from node to node
    expect(new Set(heard.filter((each) => each !== late))).toEqual(new Set(['other second']));
  });

  test('counts up to the limit and no further', async () => {
    const { store, charge } = open();
    const all = [];

    for (let call = 0; call < 4; call += 1) all.push(await spendOne(store, [charge('a', 2)]));

    expect(all).toEqual([
      { outcome: 'charged', used: [1] },
      { outcome: 'charged', used: [2] },
      { outcome: 'refused', used: [2] },
      { outcome: 'refused', used: [2] },
    ]);
  });

  test('charges a bill whole or not at all', async () => {
    const { store, charge } = open();
    await spendOne(store, [charge('tight', 1)]);

    const refused = await spendOne(store, [charge('roomy', 9), charge('tight', 1)]);

    expect(refused).toEqual({ outcome: 'refused', used: [0, 1] });
    const other = await spendOne(store, [charge('roomy', 9), charge('other', 9)]);
    expect(other).toEqual({ outcome: 'charged', used: [1, 1] });
  });

  test('charges bill after bill, and none after a bill without room', async () => {
    const { store, charge } = open();
    const bills = [
      { name: 'first', charges: [charge('first', 9)] },
      { name: 'second', charges: [charge('second', 1)] },
      { name: 'third', charges: [charge('third', 9)] },
    ];

    const [once, again] = [await store.charge(bills), await store.charge(bills)];

    expect(Object.fromEntries(once)).toEqual({
      first: { outcome: 'charged', used: [1] },
      second: { outcome: 'charged', used: [1] },
      third: { outcome: 'charged', used: [1] },
    });
    expect(Object.fromEntries(again)).toEqual({
      first: { outcome: 'charged', used: [2] },
      second: { outcome: 'refused', used: [1] },
    });
    expect(Object.fromEntries(await store.charge(bills.slice(2)))).toEqual({
      third: { outcome: 'charged', used: [2] },
    });
  });

  test('charges one count several times in a bill, all or none', async () => {
    const { store, charge } = open();
    const times = (count: number) => Array.from({ length: count }, () => charge('a', 5));

    expect(await spendOne(store, times(3))).toEqual({ outcome: 'charged', used: [1, 2, 3] });
    expect((await spendOne(store, times(3)))?.outcome).toBe('refused');
    expect(await spendOne(store, times(2))).toEqual({ outcome: 'charged', used: [4, 5] });
  });

  test('checks for room and takes none when the cost is 0', async () => {
    const { store, charge } = open();

    expect(await spendOne(store, [charge('a', 1, 0)])).toEqual({ outcome: 'charged', used: [0] });
    expect(await spendOne(store, [charge('a', 1)])).toEqual({ outcome: 'charged', used: [1] });
    expect(await spendOne(store, [charge('a', 1, 0)])).toEqual({ outcome: 'refused', used: [1] });
  });

  test('admits exactly as many of a crowd as there is room for', async () => {
    const { store, charge } = open();

    const all = await Promise.all(Array.from({ length: 50 }, () => spendOne(store, [charge('a', 7)])));

    expect(all.filter((settled) => settled?.outcome === 'charged')).toHaveLength(7);
  });

  test('gives a missing version once', async () => {
    const { store, key } = open();
    const versionsWith = async (fresh: string) => {
      const bills = ['a', 'b'].map((name) => {
        return { name, charges: [], version: { key: key(name), fresh, seconds: 60 } };
      });
      return [...(await store.charge(bills)).values()].map(({ version }) => version);
    };
    await store.put([{ key: key('b'), value: 'kept', seconds: 60 }]);

    expect(await versionsWith('one')).toEqual(['one', 'kept']);
    expect(await versionsWith('two')).toEqual(['one', 'kept']);
  });

  test('charges a bill only while its version is the expected one, and other bills always', async () => {
    const { store, key, charge } = open();
    const version = { key: key('version'), fresh: 'x', seconds: 60, expected: 'v1' };
    const chargeBoth = async () => {
      const bills = [
        { name: 'developer', charges: [charge('developer', 9)], version },
        { name: 'address', charges: [charge('address', 9)] },
      ];
      return Object.fromEntries(await store.charge(bills));
    };
    await store.put([{ key: key('version'), value: 'v1', seconds: 60 }]);

    const current = await chargeBoth();
    await store.put([{ key: key('version'), value: 'v2', seconds: 60 }]);
    const stale = await chargeBoth();

    expect(current).toEqual({
      developer: { outcome: 'charged', used: [1], version: 'v1' },
      address: { outcome: 'charged', used: [1] },
    });
    expect(stale).toEqual({
      developer: { outcome: 'stale', used: [], version: 'v2' },
      address: { outcome: 'charged', used: [2] },
    });
  });

  test('answers a ping', async () => {
    await expect(open().store.ping()).resolves.toBeUndefined();
  });
});

const NAMES = ['address', 'resource', 'developer'] as const;
const VERSIONS = { one: 'first', other: 'second' } as const;

const anyCharges = fc.record({
  charges: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      limit: fc.integer({ min: 1, max: 20 }),
      cost: fc.constantFrom<Charge['cost']>(0, 1),
    }),
    { selector: ({ name }) => name, maxLength: 3 },
  ),
  versionOf: fc.option(fc.constantFrom('one', 'other'), { nil: undefined }),
  expected: fc.option(fc.constantFrom('first', 'second', 'another'), { nil: undefined }),
});

type AnyCharges = typeof anyCharges extends fc.Arbitrary<infer Some> ? Some : never;

/** A model of the store in the plainest words: its counts. */
function modelOf() {
  const counts = new Map<string, number>();
  const used = (name: string) => counts.get(name) ?? 0;
  const settle = ({ charges, versionOf, expected }: AnyCharges) => {
    const version = versionOf && VERSIONS[versionOf];
    if (version && expected && version !== expected) return { outcome: 'stale', used: [], version };
    const isOver = charges.some(({ name, limit }) => used(name) >= limit);
    if (!isOver) for (const { name, cost } of charges) counts.set(name, used(name) + cost);
    return {
      outcome: isOver ? 'refused' : 'charged',
      used: charges.map(({ name }) => used(name)),
      version,
    };
  };
  return (bills: readonly AnyCharges[]) => {
    const all = [];
    for (const bill of bills) {
      const settled = settle(bill);
      all.push(settled);
      if (settled.outcome === 'refused') break;
    }
    return all;
  };
}

test('any sequence of bills is settled alike by every adapter, and by the model', async () => {
  const stores = adapters.map(([, create]) => create());
  onTestFinished(async () => {
    for (const store of stores) await store.close();
  });
  const anyBills = fc.array(anyCharges, { maxLength: NAMES.length });

  await fc.assert(
    fc.asyncProperty(fc.array(anyBills, { maxLength: 12 }), async (requests) => {
      const tag = randomUUID();
      const key = (name: string) => `bh:{${tag}}:${name}`;
      const versions = Object.entries(VERSIONS).map(([name, value]) => ({
        key: key(name),
        value,
        seconds: 60,
      }));
      for (const store of stores) await store.put(versions);
      const settledByModel = modelOf();
      for (const request of requests) {
        const bills = request.map(({ charges, versionOf, expected }, at) => ({
          name: NAMES[at] ?? '',
          charges: charges.map(
            ({ name, limit, cost }): Charge => ({ key: key(name), limit, cost, seconds: 60 }),
          ),
          ...(versionOf !== undefined && {
            version: {
              key: key(versionOf),
              fresh: 'unused',
              seconds: 60,
              ...(expected !== undefined && { expected }),
            },
          }),
        }));
        const all = await Promise.all(stores.map((store) => store.charge(bills)));

        const modelled = settledByModel(request);
        for (const settled of all) {
          expect([...settled.keys()]).toEqual(NAMES.slice(0, modelled.length));
          const withVersions = [...settled.values()].map((each) => ({ version: undefined, ...each }));
          expect(withVersions).toEqual(modelled);
        }
      }
    }),
  );
});

test('values in memory are gone after their time', async () => {
  let now = 0;
  const store = memoryStore(() => new Date(now));
  await store.put([{ key: 'a', value: 'one', seconds: 60 }]);
  await spendOne(store, [{ key: 'b', limit: 1, cost: 1, seconds: 60 }]);

  now = 59_999;
  expect(await store.get('a')).toBe('one');
  now = 60_000;
  expect(await store.get('a')).toBeUndefined();
  const again = await spendOne(store, [{ key: 'b', limit: 1, cost: 1, seconds: 60 }]);
  expect(again?.used).toEqual([1]);
});

test('a slot in memory is free at the end of its time', async () => {
  let now = 0;
  const store = memoryStore(() => new Date(now));
  const slot = { key: 'a', most: 1, seconds: 60 };
  await store.takeSlot({ ...slot, owner: 'first' });

  now = 59_999;
  expect(await store.takeSlot({ ...slot, owner: 'second' })).toBe(false);
  now = 60_000;
  expect(await store.takeSlot({ ...slot, owner: 'second' })).toBe(true);
});

test('a window in Redis ends as long after its first charge, however many follow', async () => {
  const store = redisStore(inject('redisUrl'));
  const client = createClient({ url: inject('redisUrl') });
  await client.connect();
  onTestFinished(() => {
    client.destroy();
    return store.close();
  });
  const key = `bh:{${randomUUID()}}`;
  const spend = () => spendOne(store, [{ key, limit: 5, cost: 1, seconds: 60 }]);
  await spend();
  await client.expire(key, 30); // half of the time is over

  await spend();

  expect(await client.ttl(key)).toBeLessThanOrEqual(30);
});

test('values in Redis are gone after their time', async () => {
  const store = redisStore(inject('redisUrl'));
  onTestFinished(() => store.close());
  const key = `bh:{${randomUUID()}}`;
  await spendOne(store, [{ key, limit: 1, cost: 1, seconds: 1 }]);
  const hasRoom = async () => {
    const settled = await spendOne(store, [{ key, limit: 1, cost: 0, seconds: 1 }]);
    return settled?.outcome === 'charged';
  };
  expect(await hasRoom()).toBe(false);

  await vi.waitUntil(hasRoom, { timeout: 5000 });
});

/** The methods of a socket that write to the network, once for each call. */
type Writer = Record<'_write' | '_writev', (this: Socket, ...given: unknown[]) => void>;

test('all questions of one turn of the event loop leave in one write', async () => {
  const store = redisStore(inject('redisUrl'));
  onTestFinished(() => store.close());
  const chargeBoth = () =>
    store.charge(
      ['address', 'developer'].map((name) => {
        const key = `bh:{${randomUUID()}}`;
        return { name, charges: [{ key, limit: 9, cost: 1, seconds: 60 }] };
      }),
    );
  await chargeBoth(); // now Redis knows the script
  const port = Number(new URL(inject('redisUrl')).port);
  let writes = 0;
  for (const name of ['_write', '_writev'] as const) {
    const { prototype }: { prototype: Writer } = Object(Socket);
    const write = prototype[name];
    prototype[name] = function (...given) {
      if (this.remotePort === port) writes += 1;
      write.apply(this, given);
    };
    onTestFinished(() => {
      prototype[name] = write;
    });
  }

  await Promise.all(Array.from({ length: 8 }, chargeBoth));

  expect(writes).toBe(1);
});

describe('a Redis', () => {
  /** A server that takes connections and answers them as the test says. */
  async function pretend(answer: (socket: Socket) => void) {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
      answer(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  }

  function openWatched(url: string) {
    const trouble: string[] = [];
    const onTrouble = (error?: Error) => void trouble.push(error ? 'away' : 'back');
    const store = openStore(url, () => new Date(), { onTrouble });
    onTestFinished(() => store.close());
    return { store, trouble };
  }

  const dependency = { code: 'SERVICE_UNAVAILABLE', details: { dependency: 'redis' } };

  test('I12: is reported once and at once when it is absent', async () => {
    const { store, trouble } = openWatched('redis://127.0.0.1:1');

    for (let call = 0; call < 3; call += 1) await expect(store.get('a')).rejects.toMatchObject(dependency);

    await expect(store.ping()).rejects.toMatchObject(dependency);
    expect(trouble).toEqual(['away']);
  });

  test('I12: counts as away when it never answers, and the second call fails at once', async () => {
    const { store, trouble } = openWatched(await pretend(() => {}));

    const startedAt = performance.now();
    await expect(store.get('a')).rejects.toMatchObject(dependency);
    expect(performance.now() - startedAt).toBeLessThan(4000);

    const askedAgainAt = performance.now();
    for (let call = 0; call < 20; call += 1) await expect(store.get('a')).rejects.toMatchObject(dependency);
    expect(performance.now() - askedAgainAt).toBeLessThan(1000);
    expect(trouble).toEqual(['away']);
  });

  test('does not answer a ping when it takes no writes', async () => {
    const url = await pretend((socket) => {
      socket.on('data', (bytes) => {
        for (const [, command] of bytes.toString().matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)/gm))
          socket.write(command === 'SET' ? '-OOM command not allowed\r\n' : '+OK\r\n');
      });
    });
    const { store } = openWatched(url);

    expect(await store.get('a')).toBe('OK');
    await expect(store.ping()).rejects.toMatchObject(dependency);
  });

  test('I12: is away when it stops answering, and back when it answers', async () => {
    let isHanging = false;
    const held: (() => void)[] = [];
    // Only for the client's own commands and PING: each command gets one line.
    const url = await pretend((socket) => {
      socket.on('data', (bytes) => {
        const commands = bytes.toString().match(/^\*\d+\r\n/gm) ?? [];
        const reply = () => socket.write('+PONG\r\n'.repeat(commands.length));
        if (isHanging) held.push(reply);
        else reply();
      });
    });
    const { store, trouble } = openWatched(url);
    await store.ping();

    isHanging = true;
    await expect(store.ping()).rejects.toMatchObject(dependency);
    await expect(store.ping()).rejects.toMatchObject(dependency);
    expect(trouble).toEqual(['away']);

    isHanging = false;
    for (const reply of held.splice(0)) reply();
    await vi.waitUntil(() => trouble.length === 2, { timeout: 5000 });
    await store.ping();
    expect(trouble).toEqual(['away', 'back']);
  });
});

test('a key has the slot that the Redis Cluster specification gives it', () => {
  expect([slotOf('123456789'), slotOf('foo'), slotOf('bar')]).toEqual([12739, 12182, 5061]);
});

test.each([
  ['a{bar}', 'bar'],
  ['{bar}{foo}', 'bar'],
  ['foo{{bar}}zap', '{bar'],
  ['bh:{developer:dev_1}:rate:plan:1', 'developer:dev_1'],
])('%s has the slot of its tag, %s', (key, tag) => {
  expect(slotOf(key)).toBe(slotOf(tag));
});

test.each(['foo{}{bar}', 'foo{bar', 'foo}bar'])('%s has no tag', (key) => {
  expect(slotOf(key)).not.toBe(slotOf('bar'));
});
