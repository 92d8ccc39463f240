import type { Clock } from '../clock.ts';
import type { EphemeralStore, PayerCharges, Settled, VersionCheck } from './ephemeral-store.ts';

interface Cell {
  value: string;
  expiresAt: number; // epoch milliseconds
}

const SWEEP_EVERY = 1000; // writes between two sweeps of expired entries

/** A store in this process only: for development without Redis, and for counting while Redis is away. */
export function memoryStore(clock: Clock): EphemeralStore {
  const cells = new Map<string, Cell>();
  const slots = new Map<string, Map<string, number>>(); // owners, and until when in epoch milliseconds
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

  const versionOf = ({ key, fresh, seconds }: VersionCheck) => {
    const held = find(key);
    if (held === undefined) write(key, fresh, seconds);
    return held ?? fresh;
  };
  const settle = ({ charges, version: check }: PayerCharges): Settled => {
    const version = check && versionOf(check);
    const held = version === undefined ? {} : { version };
    if (check?.expected !== undefined && version !== check.expected)
      return { outcome: 'stale', used: [], ...held };
    const before = new Map<string, number>(); // a bill may charge one count several times
    const counted = charges.map((charge) => {
      const count = before.get(charge.key) ?? Number(find(charge.key) ?? 0);
      before.set(charge.key, count + charge.cost);
      return { ...charge, count };
    });
    if (counted.some(({ count, limit }) => count >= limit))
      return { outcome: 'refused', used: counted.map(({ count }) => count), ...held };
    for (const { key, cost, seconds, count } of counted)
      if (cost > 0) write(key, String(count + cost), seconds);
    return { outcome: 'charged', used: counted.map(({ count, cost }) => count + cost), ...held };
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
    async keepFor(keys, seconds) {
      for (const key of keys) {
        const value = find(key);
        if (value !== undefined) write(key, value, seconds);
      }
    },
    async charge<Name extends string>(bills: readonly PayerCharges<Name>[]) {
      const all = new Map<Name, Settled>();
      for (const bill of bills) {
        const settled = settle(bill);
        all.set(bill.name, settled);
        if (settled.outcome === 'refused') break;
      }
      return all;
    },
    chargeLeased: () => undefined, // a trip costs nothing here
    async takeSlot({ key, owner, most, seconds }) {
      const now = clock().getTime();
      const owners = slots.get(key) ?? new Map<string, number>();
      for (const [each, until] of owners) if (until <= now) owners.delete(each);
      if (!owners.has(owner) && owners.size >= most) return false;
      owners.set(owner, now + seconds * 1000);
      slots.set(key, owners);
      return true;
    },
    async freeSlot({ key, owner }) {
      const owners = slots.get(key);
      owners?.delete(owner);
      if (owners?.size === 0) slots.delete(key);
    },
    async replaceVersion({ key, value, seconds }) {
      write(key, value, seconds);
    },
    async publish(channel, hint) {
      for (const listener of listeners.get(channel) ?? []) listener(hint);
    },
    subscribe(channel, listener) {
      const all = listeners.get(channel) ?? new Set();
      listeners.set(channel, all.add(listener));
      return () => void all.delete(listener);
    },
    onLost() {}, // memory loses nothing
    async ping() {},
    async close() {
      cells.clear();
      slots.clear();
      listeners.clear();
    },
  };
}
