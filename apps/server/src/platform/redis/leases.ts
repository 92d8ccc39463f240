import type { Charge, PayerCharges, Settled, VersionCheck } from './ephemeral-store.ts';

/** Milliseconds for which a process may go by what Redis has told it. A change of a version waits as long. */
export const LEASE = 250;
/** The part of a limit that one process may hold unused: a twentieth. */
const SHARE = 20;
/** The part of a limit from which on each request is counted by itself. */
const NEARLY = 0.9;
const MOST = 10_000; // counts, and versions, that are remembered

interface Count {
  readonly key: string;
  /** What Redis had counted at its last answer, the unused rest among it. */
  used: number;
  /** Counted in Redis, and not yet used by a request. */
  left: number;
  /** On its way: asked for, and not yet answered. */
  asked: number;
  /** Requests since the last answer, and how many it had leased to them. */
  taken: number;
  leased: number;
  askedAt: number;
}

export interface Leases {
  /** Settles the bills of a request by what is leased, or takes nothing and returns undefined. */
  take<Name extends string>(bills: readonly PayerCharges<Name>[]): ReadonlyMap<Name, Settled> | undefined;
  /** Call it before a command leaves that charges a bill for so many requests. */
  ask(bill: PayerCharges, times: number): Asked;
  /** Forgets all, because Redis may have lost it. */
  forget(): void;
  /** Gives back what is left. */
  end(): Promise<void>;
}

interface Asked {
  /** How many later requests the command is to charge the bill for too. */
  readonly more: number;
  /** Learns the answer of Redis. */
  readonly learn: (settled: Settled) => void;
}

/**
 * Counts leased from Redis: a command counts the next requests of a bill too, and these need none. How many follows
 * from how many came in the last time: a count that is seldom used is leased to nobody.
 *
 * All that is leased is counted in Redis already, so all processes together admit no more than a limit, whatever
 * becomes of one that holds a lease.
 * @param giveBack takes unused requests off a count
 */
export function countLeases(giveBack: (key: string, times: number) => Promise<void>): Leases {
  const counts = new Map<string, Count>();
  const versions = new Map<string, { readonly expected: string; readonly until: number }>();
  let losses = 0;
  let timer: NodeJS.Timeout | undefined;

  const returnRest = async (count: Count) => {
    const { key, left } = count;
    count.left = 0;
    if (left > 0) await giveBack(key, left).catch(() => {}); // the rest stays counted, and nobody uses it
  };
  const sweep = () => {
    const time = performance.now();
    for (const [name, count] of counts) {
      if (time < count.askedAt + LEASE) continue;
      void returnRest(count);
      if (time >= count.askedAt + 2 * LEASE) counts.delete(name);
    }
    for (const [key, { until }] of versions) if (until <= time) versions.delete(key);
    if (counts.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const isCurrent = ({ key, expected }: VersionCheck) => {
    const known = versions.get(key);
    return known !== undefined && known.expected === expected && performance.now() < known.until;
  };
  const takeEach = (charges: readonly Charge[], taken: Count[]) => {
    const used: number[] = [];
    for (const charge of charges) {
      const count = charge.cost > 0 ? counts.get(nameOf(charge)) : undefined;
      if (!count || count.left === 0) return undefined;
      count.left -= 1;
      count.taken += 1;
      taken.push(count);
      used.push(count.used - count.left);
    }
    return used;
  };

  const moreFor = ({ charges, version }: PayerCharges, times: number, time: number) => {
    if (charges.length === 0 || (version && version.expected === undefined)) return 0;
    let more = Number.POSITIVE_INFINITY;
    for (const charge of charges) {
      const count = counts.get(nameOf(charge));
      if (!count || charge.cost === 0) return 0;
      const { used, left, asked, taken, leased, askedAt } = count;
      // What was used up before its time was too little. Otherwise as many are to come again.
      const wanted = time < askedAt + LEASE ? 2 * Math.max(leased, times) : taken;
      const room = Math.floor(charge.limit * NEARLY) - used - times;
      more = Math.min(more, wanted, Math.floor(charge.limit / SHARE) - 1 - left - asked, room);
    }
    return Math.max(0, more);
  };
  const reserve = (charge: Charge, more: number) => {
    const count = counts.get(nameOf(charge));
    if (count) count.asked = Math.max(0, count.asked + more);
  };

  return {
    take<Name extends string>(bills: readonly PayerCharges<Name>[]) {
      if (counts.size === 0) return undefined;
      const taken: Count[] = [];
      const all = new Map<Name, Settled>();
      for (const { name, charges, version } of bills) {
        const used = version === undefined || isCurrent(version) ? takeEach(charges, taken) : undefined;
        if (!used) {
          for (const count of taken) {
            count.left += 1;
            count.taken -= 1;
          }
          return undefined;
        }
        const held = version?.expected;
        all.set(name, { outcome: 'charged', used, ...(held !== undefined && { version: held }) });
      }
      return all;
    },
    ask(bill, times) {
      const lossesBefore = losses;
      const askedAt = performance.now();
      const more = moreFor(bill, times, askedAt);
      const { charges, version } = bill;
      if (more > 0) for (const charge of charges) reserve(charge, more);
      return {
        more,
        learn({ outcome, used }) {
          if (losses !== lossesBefore) return;
          if (more > 0) for (const charge of charges) reserve(charge, -more);
          if (outcome !== 'charged') return;
          for (const [at, charge] of charges.entries()) {
            if (charge.cost === 0) continue;
            const name = nameOf(charge);
            const { left = 0, asked = 0 } = counts.get(name) ?? {};
            const seen = {
              used: used[at] ?? 0,
              left: left + more,
              asked,
              taken: times,
              leased: more,
              askedAt,
            };
            if (counts.has(name) || counts.size < MOST) counts.set(name, { key: charge.key, ...seen });
          }
          if (more > 0 && version?.expected !== undefined)
            versions.set(version.key, { expected: version.expected, until: askedAt + LEASE });
          timer ??= setInterval(sweep, LEASE).unref();
        },
      };
    },
    forget() {
      losses += 1;
      counts.clear();
      versions.clear();
    },
    async end() {
      clearInterval(timer);
      await Promise.all([...counts.values()].map(returnRest));
      counts.clear();
    },
  };
}

/** A count under another limit is another lease: its room was another. */
const nameOf = ({ key, limit }: Charge) => `${key} ${limit}`;
