import { randomUUID } from 'node:crypto';
import type { CapsMeter, Counter } from '@behest/protocol/enforcement/meter';
import { createClient } from '@redis/client';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { memoryMeter } from '../src/memory-meter.ts';
import { type PostgresMeterOptions, postgresMeter } from '../src/postgres-meter.ts';
import { type RedisMeterOptions, redisMeter } from '../src/redis-meter.ts';

export const HOUR = 3_600_000;
export const EPOCH = 'e1';

/** A counter of an hour with 40 units, unless told otherwise. */
export const counterOf = (other: Partial<Counter> = {}): Counter => {
  return { key: 'calls', limit: 40, units: 1, windowMs: HOUR, grainMs: 1, ...other };
};

/** A tenant that no other test has. */
export const newTenant = () => `dev_${randomUUID()}`;

/** The run's Redis, in a database that no other worker uses. */
export const redisUrl = () => new URL(`/${process.env.VITEST_POOL_ID}`, inject('redisUrl')).href;

export async function connectRedis(url = redisUrl()) {
  const client = createClient({ url });
  await client.connect();
  onTestFinished(() => client.destroy());
  return client;
}

/** An empty database. */
export async function newDatabase(): Promise<string> {
  const server = inject('templateUrl');
  const name = `meter_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client(server.replace(/[^/]*$/, 'postgres'));
  await client.connect();
  await client.query(`create database ${name}`).finally(() => client.end());
  return new URL(name, server).href;
}

export function connectPostgres(url: string, max = 10) {
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on('error', () => {}); // an idle connection that a test has ended
  onTestFinished(() => pool.end());
  return pool;
}

type More = Partial<RedisMeterOptions & PostgresMeterOptions> & { readonly clock?: () => number };

/** Makes a meter of each kind on the real store. Two meters of one maker count together. */
export const backends: Readonly<Record<string, () => Promise<(more?: More) => CapsMeter>>> = {
  async memory() {
    let time: () => number = Date.now;
    const meter = memoryMeter(() => time());
    return ({ clock } = {}) => {
      if (clock) time = clock;
      return meter;
    };
  },
  async redis() {
    const client = await connectRedis();
    return ({ clock, ...more } = {}) =>
      redisMeter({ epoch: EPOCH, timeoutMs: 20_000, ...more, client }, clock);
  },
  async postgres() {
    const client = connectPostgres(await newDatabase());
    const make = ({ clock, ...more }: More = {}) =>
      postgresMeter({ epoch: EPOCH, timeoutMs: 20_000, ...more, client }, clock);
    await make().install();
    return make;
  },
};
