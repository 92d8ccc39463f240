import type { Clock } from '../clock.ts';
import type { Charge, EphemeralStore, Watch } from './ephemeral-store.ts';

interface Cell {
  value: string;
  expiresAt: number; // epoch milliseconds
}

const SWEEP_EVERY = 1000; // writes between two looks for what has expired

/** In this process only: a twin for development without Redis, and what counts requests while Redis is away. */
export function memoryStore(clock: Clock): EphemeralStore {
  const cells = new Map<string, Cell>();
  const places = new Map<string, Map<string, number>>(); // holders, and until when in epoch milliseconds
  const listeners = new Map<string, Set<(hint: string) => void>>();
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

  const set = (key: string, { fresh, seconds }: Watch) => {
    write(key, fresh, seconds);
    return fresh;
  };
  const take = ({ key, cost, seconds }: Charge, count: number) => {
    if (cost > 0) write(key, String(count + cost), seconds);
    return count + cost;
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
    async spend({ groups, watch }) {
      const values = watch ? watch.keys.map((key) => find(key) ?? set(key, watch)) : [];
      const isStale = watch?.expected !== undefined && values.at(-1) !== watch.expected;
      let refusedAt: number | undefined;
      const used = groups.map((charges, at) => {
        const counts = charges.map(({ key }) => Number(find(key) ?? 0));
        if (refusedAt !== undefined || (isStale && at === groups.length - 1)) return counts;
        if (charges.some(({ limit }, each) => (counts[each] ?? 0) >= limit)) {
          refusedAt = at;
          return counts;
        }
        return charges.map((charge, each) => take(charge, counts[each] ?? 0));
      });
      return { ...(refusedAt !== undefined && { refusedAt }), isStale, values, used };
    },
    async hold({ key, holder, most, seconds }) {
      const now = clock().getTime();
      const holders = places.get(key) ?? new Map<string, number>();
      for (const [each, until] of holders) if (until <= now) holders.delete(each);
      if (!holders.has(holder) && holders.size >= most) return false;
      holders.set(holder, now + seconds * 1000);
      places.set(key, holders);
      return true;
    },
    async letGo({ key, holder }) {
      const holders = places.get(key);
      holders?.delete(holder);
      if (holders?.size === 0) places.delete(key);
    },
    async tell(channel, hint) {
      for (const listener of listeners.get(channel) ?? []) listener(hint);
    },
    listen(channel, listener) {
      const all = listeners.get(channel) ?? new Set();
      listeners.set(channel, all.add(listener));
      return () => void all.delete(listener);
    },
    onLost() {}, // it is not
    async ping() {},
    async close() {
      cells.clear();
      places.clear();
      listeners.clear();
    },
  };
}
