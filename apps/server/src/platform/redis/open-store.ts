import type { Clock } from '../clock.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import type { EphemeralStore } from './ephemeral-store.ts';
import { memoryStore } from './memory-store.ts';
import { redisStore } from './redis-store.ts';
import { tracedStore } from './traced-store.ts';

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
