import { type PostgresClient, postgresMeter, type RedisClient, redisMeter } from '@behest/sdk/enforce';

const EPOCH = '2026-01'; // a new one only after counters were lost, in all processes at once

/** Counts in Redis. `client` is one of `redis` or `ioredis`. */
export function countInRedis(client: RedisClient, alert: (what: string) => void) {
  return redisMeter({ client, epoch: EPOCH, onDataLoss: alert });
}

/** Counts in PostgreSQL. `pool` is one of `pg`. */
export async function countInPostgres(pool: PostgresClient, alert: (what: string) => void) {
  const meter = postgresMeter({ client: pool, epoch: EPOCH, onDataLoss: alert });
  await meter.install(); // tables and functions; it can be repeated
  return meter;
}
