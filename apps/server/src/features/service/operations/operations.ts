import { setTimeout as delay } from 'node:timers/promises';
import { type Executor, ping } from '../../../platform/db/db.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Health } from './operations.schema.ts';

export interface OperationsDeps {
  readonly db: Executor;
  readonly store: EphemeralStore;
  /** Whether the process is stopping and wants no more requests. */
  readonly isStopping: () => boolean;
}

const PROBE_MILLISECONDS = 2000;

/**
 * Asks both dependencies at the same time. The answer names those that fail but no reason: anybody may ask.
 */
export async function checkHealth({ db, store, isStopping }: OperationsDeps): Promise<Health> {
  if (isStopping()) return { status: 'degraded', failing: [] };
  const [hasDb, hasRedis] = await Promise.all([answers(ping(db)), answers(store.ping())]);
  if (hasDb && hasRedis) return { status: 'ok' };
  return {
    status: 'degraded',
    failing: [...(hasDb ? [] : ['db' as const]), ...(hasRedis ? [] : ['redis' as const])],
  };
}

function answers(probe: Promise<void>): Promise<boolean> {
  const late = delay(PROBE_MILLISECONDS, false, { ref: false });
  return Promise.race([probe.then(() => true).catch(() => false), late]);
}
