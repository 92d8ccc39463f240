import type { Clock } from '../clock.ts';
import type { EphemeralStore } from './ephemeral-store.ts';
import { memoryStore } from './memory-store.ts';
import { redisStore } from './redis-store.ts';

/** @param url `redis://…`, `rediss://…`, or `memory:` outside production. */
export function openStore(url: string, clock: Clock, onTrouble?: (error?: Error) => void): EphemeralStore {
  return url === 'memory:' ? memoryStore(clock) : redisStore(url, onTrouble);
}
