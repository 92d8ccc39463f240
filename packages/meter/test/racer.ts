import { createClient } from '@redis/client';
import pg from 'pg';
import { postgresMeter } from '../src/postgres-meter.ts';
import { redisMeter } from '../src/redis-meter.ts';
import type { Race } from './race.ts';

/** A process that sends its share of a race once it is told to go. */
const { url, tenant, from, calls, counters }: Race = JSON.parse(process.argv[2] ?? '');
const isRedis = url.startsWith('redis');
const redis = createClient(isRedis ? { url } : {});
const pool = new pg.Pool({ connectionString: url, max: 10 });
const options = { epoch: 'e1', timeoutMs: 60_000 };
if (isRedis) await redis.connect();
const meter = isRedis
  ? redisMeter({ ...options, client: redis })
  : postgresMeter({ ...options, client: pool });
// Every connection is open before the race begins.
await Promise.all(Array.from({ length: 10 }, () => meter.health()));

process.once('message', async () => {
  const ids = Array.from({ length: calls }, (_, at) => `call-${from + at}`);
  const answers = await Promise.all(ids.map((id) => meter.reserve(tenant, id, counters)));
  process.send?.(answers);
  if (isRedis) redis.destroy();
  await pool.end();
  process.disconnect();
});
process.send?.('ready');
