import { type MeterTimes, meterOf } from '@behest/meter/postgres-meter';
import { redisMeter } from '@behest/meter/redis-meter';
import { readSettings } from '@behest/meter/redis-settings';
import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { type RedisCommands, redisCommands } from '../../../platform/redis/redis-commands.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { capsFunctions, deleteCaseCounters, hasEpoch, insertEpoch } from './caps.repo.ts';

/** One set of counters for as long as the service lives. After a loss the operator empties Redis and forgets tenants. */
const EPOCH = 'service';

interface RedisCaps {
  /** The connections whose statements are no part of a request's transaction. */
  readonly aside: Executor;
  readonly url: string;
  readonly callRecordSeconds: number;
  /** Whether the operator vouches for a Redis that forbids `INFO`. */
  readonly assertSafe: boolean;
  readonly onDataLoss: () => void;
  readonly logger?: Logger;
}

/** A meter in Redis, with the steps of its life. */
export interface RedisCapsMeter {
  readonly meter: CapsMeter;
  /** @throws Error for a Redis that answers and could lose counters. The meter looks later at a Redis that is away. */
  readonly mustBeSafe: () => Promise<void>;
  readonly close: () => void;
}

/**
 * Counts in Redis. The database remembers who has counters, so that a process which starts after a loss notices it.
 */
export function redisCapsMeter(options: RedisCaps): RedisCapsMeter {
  const { aside, url, callRecordSeconds, assertSafe, onDataLoss, logger } = options;
  const redis = redisCommands(url, (err) =>
    err
      ? logger?.warn({ err }, 'calls with a cap are denied: the redis that counts them is away')
      : logger?.info('calls with a cap are counted in redis again'),
  );
  const meter = redisMeter({
    client: redis.send,
    epoch: EPOCH,
    assertSafe,
    callRecordSeconds,
    tenants: {
      has: (developerId) => hasEpoch(aside, { developerId }),
      add: (developerId) => insertEpoch(aside, { developerId }, EPOCH),
    },
    onDataLoss(what) {
      onDataLoss();
      logger?.fatal({ what }, 'counters of caps were lost, and the calls of a developer are denied');
    },
  });
  return { meter, mustBeSafe: () => mustBeSafe(redis, assertSafe, logger), close: redis.close };
}

async function mustBeSafe({ send }: RedisCommands, assertSafe: boolean, logger?: Logger): Promise<void> {
  const settings = await readSettings(send, 'bh:cap:{settings}', assertSafe).catch(() => undefined);
  if (!settings) return; // away: the meter reads them before it counts
  if (settings.problems.length > 0) {
    throw new Error(`The Redis of CAPS_METER cannot count caps: ${settings.problems.join('; ')}.`);
  }
  if (settings.version === '') {
    logger?.warn('the operator vouches for the redis that counts caps: its settings cannot be read');
  }
}

/** The meter in the service's own database. The epoch is for databases that are restored without the rest. */
export function postgresCapsMeter(db: Executor, times: MeterTimes): CapsMeter {
  return meterOf(capsFunctions(db), times);
}

/** Forgets what the calls of a case took from caps by case. @returns how many counters there were, and of which grants */
export async function closeCaseCounters(tx: Tx, tenant: Tenant, caseId: string) {
  const keys = await deleteCaseCounters(tx, tenant, `,"per_case",${JSON.stringify(caseId)}]`);
  const ofGrants = keys.map((key) => JSON.parse(key)).filter(([scope]) => scope === 'grant');
  return { counters: keys.length, grantIds: [...new Set(ofGrants.map(([, grantId]) => String(grantId)))] };
}
