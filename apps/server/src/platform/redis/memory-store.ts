import type { Clock } from '../clock.ts';
import type { EphemeralStore } from './ephemeral-store.ts';

interface Cell {
  value: string;
  expiresAt: number; // epoch milliseconds
}

const SWEEP_EVERY = 1000; // writes between two looks for what has expired

/** In this process only: a twin for development without Redis, and what counts requests while Redis is away. */
export function memoryStore(clock: Clock): EphemeralStore {
  const cells = new Map<string, Cell>();
  let writes = 0;

  const find = (key: string) => {
    const cell = cells.get(key);
    return cell && cell.expiresAt > clock().getTime() ? cell.value : undefined;
  };
  const write = (key: string, value: string, seconds: number) => {
    const now = clock().getTime();
    cells.set(key, { value, expiresAt: now + seconds * 1000 });
    writes += 1;
    if (writes % SWEEP_EVERY > 0) return;
    for (const [each, { expiresAt }] of cells) if (expiresAt <= now) cells.delete(each);
  };

  return {
    async put(entries) {
      for (const { key, value, seconds } of entries) write(key, value, seconds);
    },
    async get(key) {
      return find(key);
    },
    async remove(key) {
      cells.delete(key);
    },
    async spend(charges) {
      const used = charges.map(({ key }) => Number(find(key) ?? 0));
      const isAdmitted = charges.every(({ limit }, at) => (used[at] ?? 0) < limit);
      if (!isAdmitted) return { isAdmitted, used };
      for (const [at, { key, cost, seconds }] of charges.entries()) {
        const count = (used[at] ?? 0) + cost;
        used[at] = count;
        if (cost > 0) write(key, String(count), seconds);
      }
      return { isAdmitted, used };
    },
    async ping() {},
    async close() {
      cells.clear();
    },
  };
}
