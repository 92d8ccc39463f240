import { LRUCache } from 'lru-cache';
import type { Bill, Settled } from './ephemeral-store.ts';

/** The commands of a store that has one for each bill. */
export interface Till {
  readonly settle: (bill: Bill) => Promise<Settled>;
  /** Undoes what a bill was charged. */
  readonly takeBack: (bill: Bill) => Promise<void>;
}

/** The part of a limit that counts as nearly used up. */
const LITTLE = 0.1;
const MOST = 10_000; // counts that are remembered as nearly used up

/**
 * Charges bills in their order, and none after a refused bill, by one command for each bill.
 *
 * All commands of a request leave together, because a refusal is rare. A bill that was charged although one
 * before it was refused is taken back before the request is answered. A count that was seen nearly used up
 * makes the bills after it wait for its answer instead, so that a subject beyond its limit causes no such
 * charges.
 */
export function settleBills({ settle, takeBack }: Till) {
  const nearlyUsed = new LRUCache<string, true>({ max: MOST });
  const mayBeRefused = ({ charges }: Bill) => charges.some(({ key }) => nearlyUsed.has(key));
  const settleAndWatch = async (bill: Bill) => {
    const settled = await settle(bill);
    for (const [at, { key, limit }] of bill.charges.entries())
      if (limit - (settled.used[at] ?? 0) <= limit * LITTLE) nearlyUsed.set(key, true);
    return settled;
  };

  const inTurn = async (bills: readonly Bill[]) => {
    const all: Settled[] = [];
    for (const bill of bills) {
      const settled = await settleAndWatch(bill);
      all.push(settled);
      if (settled.outcome === 'refused') break;
    }
    return all;
  };

  const together = async (bills: readonly Bill[]) => {
    const all = await Promise.all(bills.map(settleAndWatch));
    const count = all.findIndex(({ outcome }) => outcome === 'refused') + 1;
    if (count === 0 || count === all.length) return all;
    const inVain = bills.filter((_, at) => at >= count && all[at]?.outcome === 'charged');
    await Promise.all(inVain.map(takeBack));
    return all.slice(0, count);
  };

  return async <Name extends string>(bills: readonly Bill<Name>[]): Promise<Map<Name, Settled>> => {
    const all = await (bills.slice(0, -1).some(mayBeRefused) ? inTurn(bills) : together(bills));
    return new Map(bills.slice(0, all.length).map(({ name }, at) => [name, all[at] ?? NOTHING]));
  };
}

const NOTHING: Settled = { outcome: 'charged', used: [] };
