import type { Tracer } from '../telemetry/tracer.ts';
import type { EphemeralStore } from './ephemeral-store.ts';

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
    ping: () => traced('ping', () => store.ping()),
  };
}
