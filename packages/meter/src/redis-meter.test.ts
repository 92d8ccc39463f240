import { type AddressInfo, connect, createServer } from 'node:net';
import { createClient } from '@redis/client';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectRedis, counterOf, EPOCH, newTenant, redisUrl } from '../test/stores.ts';
import { tenantHash } from './hashes.ts';
import type { RedisClient } from './redis-client.ts';
import { redisMeter } from './redis-meter.ts';

const counter = counterOf();

async function open(more: { epoch?: string; onDataLoss?: (what: string) => void } = {}) {
  const client = await connectRedis();
  return {
    client,
    tenant: newTenant(),
    meter: redisMeter({ client, epoch: EPOCH, timeoutMs: 20_000, ...more }),
  };
}

/** Answers as a Redis with these settings, and asks the real one for all else. */
const saying =
  (info: string | Error, client: { sendCommand(command: string[]): Promise<unknown> }): RedisClient =>
  async (command) => {
    if (command[0] !== 'INFO') return client.sendCommand(command);
    if (info instanceof Error) throw info;
    return info;
  };

const GOOD = 'redis_version:6.0.16\r\nmaxmemory_policy:noeviction\r\n';

describe('lost data', () => {
  const lost = { name: 'MeterError', problem: 'data_loss' };

  test('is noticed when Redis was emptied, and told to the operator', async () => {
    const told: string[] = [];
    const { client, meter, tenant } = await open({ onDataLoss: (what) => told.push(what) });
    await meter.reserve(tenant, 'call-1', [counter]);

    await client.flushDb();

    await expect(meter.reserve(tenant, 'call-2', [counter])).rejects.toMatchObject(lost);
    await expect(meter.usage(tenant, [counter])).rejects.toMatchObject(lost);
    expect(told).toEqual(['missing', 'missing']);
    expect(await meter.reserve(newTenant(), 'call-1', [counter])).toMatchObject({ reserved: true });
  });

  test('is noticed by a process that has not seen the tenant, when the deployment has', async () => {
    const { client, tenant } = await open();
    const seen = new Set<string>();
    const tenants = {
      has: async (name: string) => seen.has(name),
      add: async (name: string) => void seen.add(name),
    };
    await redisMeter({ client, epoch: EPOCH, tenants }).reserve(tenant, 'call-1', [counter]);
    await client.flushDb();

    const later = redisMeter({ client, epoch: EPOCH, tenants });

    await expect(later.reserve(tenant, 'call-2', [counter])).rejects.toMatchObject(lost);
  });

  test('is noticed when a replica took over that lacks the last calls', async () => {
    const { client, meter, tenant } = await open();
    const key = `bh:cap:{${tenantHash(tenant)}}:meta`;
    for (const id of ['call-1', 'call-2', 'call-3']) await meter.reserve(tenant, id, [counter]);

    await client.hSet(key, 'q', '2');

    await expect(meter.reserve(tenant, 'call-4', [counter])).rejects.toMatchObject(lost);
    await client.hSet(key, 'q', '3');
    expect(await meter.reserve(tenant, 'call-4', [counter])).toMatchObject({ used: [4] });
  });

  test('is noticed when processes disagree about the epoch, until the operator begins a new one', async () => {
    const { client, meter, tenant } = await open();
    await meter.reserve(tenant, 'call-1', [counter]);
    const other = redisMeter({ client, epoch: 'e2' });

    await expect(other.reserve(tenant, 'call-2', [counter])).rejects.toMatchObject(lost);
    expect(await other.reset()).toBeGreaterThan(3);

    expect(await other.reserve(tenant, 'call-2', [counter])).toMatchObject({ used: [1] });
    await expect(meter.reserve(tenant, 'call-3', [counter])).rejects.toMatchObject(lost);
  });
});

describe('a Redis that could lose counters', () => {
  test.each([
    ['that evicts keys', 'redis_version:7.2.4\r\nmaxmemory_policy:allkeys-lru', 'noeviction'],
    ['that is too old', 'redis_version:5.0.14\r\nmaxmemory_policy:noeviction', 'older than 6.0'],
    ['that says nothing', '', 'noeviction'],
  ])('%s counts nothing', async (_, info, problem) => {
    const { client, tenant } = await open();
    const meter = redisMeter({ client: saying(info, client), epoch: EPOCH });

    await expect(meter.reserve(tenant, 'call-1', [counter])).rejects.toMatchObject({
      problem: 'misconfigured',
    });

    const { ok, problems } = await meter.health();
    expect({ ok, problems: problems.join() }).toEqual({
      ok: false,
      problems: expect.stringContaining(problem),
    });
    const good = redisMeter({ client: saying(GOOD, client), epoch: EPOCH });
    expect(await good.reserve(tenant, 'call-1', [counter])).toMatchObject({ used: [1] });
  });

  test('counts where its settings cannot be read only if the operator vouches for them', async () => {
    const { client, tenant } = await open();
    const forbids = saying(new Error('NOPERM this user has no permissions to run INFO'), client);

    const careful = redisMeter({ client: forbids, epoch: EPOCH });
    const vouched = redisMeter({ client: forbids, epoch: EPOCH, assertSafe: true });

    await expect(careful.reserve(tenant, 'call-1', [counter])).rejects.toMatchObject({
      problem: 'misconfigured',
    });
    expect(await vouched.reserve(tenant, 'call-1', [counter])).toMatchObject({ used: [1] });
  });

  test('is noticed within a minute of the change', async () => {
    const { client, tenant } = await open();
    let info = GOOD;
    const meter = redisMeter({
      client: async (command) => (command[0] === 'INFO' ? info : client.sendCommand(command)),
      epoch: EPOCH,
    });
    await meter.reserve(tenant, 'call-1', [counter]);
    info = GOOD.replace('noeviction', 'volatile-lru');

    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_001);
    onTestFinished(() => now.mockRestore());
    await meter.usage(tenant, [counter]); // reads the settings in the background

    await vi.waitFor(async () =>
      expect(meter.usage(tenant, [counter])).rejects.toMatchObject({ problem: 'misconfigured' }),
    );
  });
});

describe('a client', () => {
  test('of ioredis and a function do as that of node-redis', async () => {
    const { client, tenant } = await open();
    const ioredis = new Redis(redisUrl());
    onTestFinished(() => ioredis.disconnect());
    const clients = [client, ioredis, (command: string[]) => client.sendCommand(command)];

    for (const [at, each] of clients.entries()) {
      const meter = redisMeter({ client: each, epoch: EPOCH });
      expect(await meter.reserve(tenant, `call-${at}`, [counter])).toMatchObject({ used: [at + 1] });
    }
    // Each of these is wrong on purpose, as in JavaScript.
    const wrong = [undefined, {}, 'redis://localhost'] as unknown as RedisClient[];
    for (const each of wrong) expect(() => redisMeter({ client: each, epoch: EPOCH })).toThrow(TypeError);
    expect(() => redisMeter({ client, epoch: '' })).toThrow(TypeError);
  });

  test('that falls silent or is cut off makes the meter say so in time', async () => {
    const { tenant } = await open();
    const silent = redisMeter({ client: () => new Promise(() => {}), epoch: EPOCH, timeoutMs: 20 });
    const cut = redisMeter({ client: () => Promise.reject(new Error('ECONNRESET')), epoch: EPOCH });
    const throwing = redisMeter({
      client: () => {
        throw new Error('The client is closed');
      },
      epoch: EPOCH,
    });

    await expect(silent.reserve(tenant, 'call-1', [counter])).rejects.toMatchObject({ problem: 'timeout' });
    await expect(cut.reserve(tenant, 'call-1', [counter])).rejects.toMatchObject({ problem: 'unreachable' });
    await expect(throwing.usage(tenant, [counter])).rejects.toMatchObject({ problem: 'unreachable' });
    expect(await cut.health()).toMatchObject({ ok: false, backend: 'redis' });
  });

  test('withdraws what it could not send, so that it is not charged for when Redis comes back', async () => {
    const { client, tenant } = await open();
    const { hostname, port: real } = new URL(redisUrl());
    const way = createServer((socket) => socket.pipe(connect(Number(real), hostname)).pipe(socket));
    const listen = (port: number) => new Promise<void>((resolve) => way.listen(port, '127.0.0.1', resolve));
    await listen(0);
    // A server that listens on a port has an address with a port.
    const { port } = way.address() as AddressInfo;
    await new Promise((resolve) => way.close(resolve));
    const url = new URL(redisUrl());
    url.port = String(port);
    const waiting = createClient({ url: url.href, socket: { reconnectStrategy: 10 } });
    waiting.on('error', () => {}); // nothing listens yet
    const connected = waiting.connect();
    onTestFinished(() => {
      waiting.destroy();
      way.close();
    });
    const sendCommand = async (command: string[], options?: object) =>
      command[0] === 'INFO' ? GOOD : waiting.sendCommand(command, options);
    const meter = redisMeter({ client: { sendCommand }, epoch: EPOCH, timeoutMs: 50 });
    const keysOf = async () => (await client.keys('*')).filter((key) => key.includes(tenantHash(tenant)));

    await expect(meter.reserve(tenant, 'call-1', [counter])).rejects.toMatchObject({ problem: 'timeout' });
    await new Promise((resolve) => setTimeout(resolve, 150));
    await listen(port);
    await connected;
    await waiting.ping();

    expect(await keysOf()).toEqual([]);
    await meter.reserve(tenant, 'call-2', [counter]);
    expect(await keysOf()).toHaveLength(4);
  });

  test('whose Redis forgot the script sends it again', async () => {
    const { client, meter, tenant } = await open();
    await meter.reserve(tenant, 'call-1', [counter]);

    await client.sendCommand(['SCRIPT', 'FLUSH']);

    expect(await meter.reserve(tenant, 'call-2', [counter])).toMatchObject({ used: [2] });
  });

  test('that answers for another program is not believed', async () => {
    for (const answer of [
      'OK',
      [],
      ['held', 'x'],
      ['held', '1', 'many'],
      ['held', '1'],
      ['surprise', '1', '1'],
    ]) {
      const client = async (command: string[]) => (command[0] === 'INFO' ? GOOD : answer);
      const meter = redisMeter({ client, epoch: EPOCH });
      const failing = meter.reserve(newTenant(), 'call-1', [counter]);
      await expect(failing, JSON.stringify(answer)).rejects.toMatchObject({ problem: 'misconfigured' });
    }
  });
});

test('every key of a tenant has one hash tag, and ends by itself', async () => {
  const { client, meter, tenant } = await open();
  await meter.reserve(tenant, 'call-1', [counter, counterOf({ key: 'case', windowMs: 0, grainMs: 0 })]);

  const keys = (await client.keys('*')).filter((key) => key.includes(tenantHash(tenant)));

  expect(keys.every((key) => key.startsWith(`bh:cap:{${tenantHash(tenant)}}:`))).toBe(true);
  const forever = await Promise.all(keys.map(async (key) => [key, await client.pTTL(key)] as const));
  const kept = forever.filter(([, ttl]) => ttl === -1).map(([key]) => key.replace(/.*}:/, '').slice(0, 2));
  expect(kept.sort()).toEqual(['c:', 'me']); // the case, whose closing is an act, and the tenant
  const timed = forever.find(([key, ttl]) => key.endsWith(':s') && ttl > 0);
  expect(timed?.[1]).toBeGreaterThan(3_600_000);
  expect(timed?.[1]).toBeLessThanOrEqual(3_660_001);
});
