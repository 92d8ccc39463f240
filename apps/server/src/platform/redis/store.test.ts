import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { Charge, EphemeralStore } from './ephemeral-store.ts';
import { memoryStore } from './memory-store.ts';
import { openStore } from './open-store.ts';
import { redisStore } from './redis-store.ts';

const hasRedis = inject('redisUrl') !== 'memory:';

/** The promises of the port, which every adapter keeps. `own` keeps one test's keys apart from another's. */
const adapters: [string, () => EphemeralStore][] = [
  ['in memory', () => memoryStore(() => new Date())],
  ...(hasRedis ? [['in Redis', () => redisStore(inject('redisUrl'))] as [string, () => EphemeralStore]] : []),
];

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
      { key: `bh:{${randomUUID()}}`, value: 'elsewhere', seconds: 60 }, // another slot of a cluster
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

  test('counts up to the limit and no further', async () => {
    const { store, charge } = open();
    const counts = [];

    for (let call = 0; call < 4; call += 1) counts.push(await store.spend([charge('a', 2)]));

    expect(counts).toEqual([
      { isAdmitted: true, used: [1] },
      { isAdmitted: true, used: [2] },
      { isAdmitted: false, used: [2] },
      { isAdmitted: false, used: [2] },
    ]);
  });

  test('charges all or none', async () => {
    const { store, charge } = open();
    await store.spend([charge('tight', 1)]);

    const refused = await store.spend([charge('roomy', 9), charge('tight', 1)]);

    expect(refused).toEqual({ isAdmitted: false, used: [0, 1] });
    expect(await store.spend([charge('roomy', 9), charge('other', 9)])).toEqual({
      isAdmitted: true,
      used: [1, 1],
    });
  });

  test('looks for room and takes none when the cost is nothing', async () => {
    const { store, charge } = open();

    expect(await store.spend([charge('a', 1, 0)])).toEqual({ isAdmitted: true, used: [0] });
    expect(await store.spend([charge('a', 1)])).toEqual({ isAdmitted: true, used: [1] });
    expect(await store.spend([charge('a', 1, 0)])).toEqual({ isAdmitted: false, used: [1] });
  });

  test('admits exactly as many of a crowd as there is room for', async () => {
    const { store, charge } = open();

    const all = await Promise.all(Array.from({ length: 50 }, () => store.spend([charge('a', 7)])));

    expect(all.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(7);
  });

  test('answers a ping', async () => {
    await expect(open().store.ping()).resolves.toBeUndefined();
  });
});

test('what is in memory is gone after its time', async () => {
  let now = 0;
  const store = memoryStore(() => new Date(now));
  await store.put([{ key: 'a', value: 'one', seconds: 60 }]);
  await store.spend([{ key: 'b', limit: 1, cost: 1, seconds: 60 }]);

  now = 59_999;
  expect(await store.get('a')).toBe('one');
  now = 60_000;
  expect(await store.get('a')).toBeUndefined();
  expect(await store.spend([{ key: 'b', limit: 1, cost: 1, seconds: 60 }])).toMatchObject({
    isAdmitted: true,
  });
});

test.skipIf(!hasRedis)('what is in Redis has a time, after which it goes', async () => {
  const store = redisStore(inject('redisUrl'));
  onTestFinished(() => store.close());
  const key = `bh:{${randomUUID()}}`;
  await store.spend([{ key, limit: 1, cost: 1, seconds: 1 }]);
  const room = { key, limit: 1, cost: 0, seconds: 1 } as const;
  expect(await store.spend([room])).toMatchObject({ isAdmitted: false });

  await vi.waitUntil(async () => (await store.spend([room])).isAdmitted, { timeout: 5000 });
});

describe('a Redis', () => {
  /** A server that takes connections and does with them as it is told. */
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
    const store = openStore(
      url,
      () => new Date(),
      (error) => trouble.push(error ? 'away' : 'back'),
    );
    onTestFinished(() => store.close());
    return { store, trouble };
  }

  const dependency = { code: 'SERVICE_UNAVAILABLE', details: { dependency: 'redis' } };

  test('I12: that is not there is said so at once, and once', async () => {
    const { store, trouble } = openWatched('redis://127.0.0.1:1');

    for (let call = 0; call < 3; call += 1) await expect(store.get('a')).rejects.toMatchObject(dependency);

    await expect(store.ping()).rejects.toMatchObject(dependency);
    expect(trouble).toEqual(['away']);
  });

  test('I12: that takes connections and never answers is one that is away, for the second asking at once', async () => {
    const { store, trouble } = openWatched(await pretend(() => {}));

    const startedAt = performance.now();
    await expect(store.get('a')).rejects.toMatchObject(dependency);
    expect(performance.now() - startedAt).toBeLessThan(4000);

    const askedAgainAt = performance.now();
    for (let call = 0; call < 20; call += 1) await expect(store.get('a')).rejects.toMatchObject(dependency);
    expect(performance.now() - askedAgainAt).toBeLessThan(1000);
    expect(trouble).toEqual(['away']);
  });

  test('I12: that stops answering in the middle is away, and back when it answers', async () => {
    let isHanging = false;
    const held: (() => void)[] = [];
    // Only what the client says on its own and PING: each command is answered with one line.
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
