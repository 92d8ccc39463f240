import type { Clock } from '../clock.ts';
import type { Tracer } from '../telemetry/tracing.ts';
import type { EphemeralStore } from './ephemeral-store.ts';
import { memoryStore } from './memory-store.ts';
import { redisStore } from './redis-store.ts';

interface StoreOptions {
  /** Called once each time Redis goes away, and with undefined when it is back. */
  readonly onTrouble?: (error?: Error) => void;
  readonly tracer?: Tracer | undefined;
}

/** @param url `redis://…`, `rediss://…`, or `memory:` outside production. */
export function openStore(
  url: string,
  clock: Clock,
  { onTrouble, tracer }: StoreOptions = {},
): EphemeralStore {
  if (url === 'memory:') return memoryStore(clock);
  const store = redisStore(url, onTrouble);
  return tracer ? tracedStore(store, tracer) : store;
}

/**
 * Makes a span for each round trip to Redis, with the command and without its keys, because keys name people.
 */
export function tracedStore(store: EphemeralStore, tracer: Tracer): EphemeralStore {
  const traced = <T>(operation: string, command: () => Promise<T>) => {
    const attributes = { 'db.system.name': 'redis', 'db.operation.name': operation };
    return tracer.call({ name: `redis ${operation}`, attributes }, command);
  };
  return {
    ...store,
    put: (entries) => traced('put', () => store.put(entries)),
    get: (key) => traced('get', () => store.get(key)),
    remove: (key) => traced('remove', () => store.remove(key)),
    keepFor: (keys, seconds) => traced('keepFor', () => store.keepFor(keys, seconds)),
    charge: (bills) => traced('charge', () => store.charge(bills)),
    takeSlot: (slot) => traced('takeSlot', () => store.takeSlot(slot)),
    replaceVersion: (version) => traced('replaceVersion', () => store.replaceVersion(version)),
    ping: () => traced('ping', () => store.ping()),
  };
}
