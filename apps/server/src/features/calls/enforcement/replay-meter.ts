import type { CapsMeter, Counter } from '@behest/protocol/enforcement/meter';

/** Counters in memory for a replay, whose clock is the time of the call that is judged. */
export interface ReplayMeter extends CapsMeter {
  readonly setTime: (milliseconds: number) => void;
}

interface Charges {
  /** Oldest first, from `first` on. */
  readonly ends: { readonly at: number; readonly units: number }[];
  first: number;
  used: number;
}

/** Calls come in the order of their times, so each window forgets from its beginning. */
export function countedAgain(): ReplayMeter {
  const counters = new Map<string, Charges>();
  let now = 0;

  const chargesOf = ({ key }: Counter): Charges => {
    const known = counters.get(key) ?? { ends: [], first: 0, used: 0 };
    counters.set(key, known);
    for (let next = known.ends[known.first]; next && next.at <= now; next = known.ends[known.first]) {
      known.used -= next.units;
      known.first += 1;
    }
    return known;
  };

  return {
    setTime(milliseconds) {
      now = milliseconds;
    },
    async reserve(_tenant, _callId, wanted) {
      const all = wanted.map(chargesOf);
      const full = wanted.findIndex(({ units, limit }, at) => (all[at]?.used ?? 0) + units > limit);
      if (full >= 0) return { full, used: all[full]?.used ?? 0, retryAtMs: null };
      for (const [at, { units, windowMs }] of wanted.entries()) {
        const charges = all[at];
        if (!charges) continue;
        charges.used += units;
        charges.ends.push({ at: windowMs === 0 ? Number.POSITIVE_INFINITY : now + windowMs, units });
      }
      return { reserved: true, used: all.map(({ used }) => used) };
    },
    async sent() {},
    refundUnsent: async () => true,
    usage: async (_tenant, wanted) => wanted.map((each) => ({ used: chargesOf(each).used, retryAtMs: null })),
    prune: async () => 0,
    health: async () => ({ ok: true, backend: 'memory', version: '', epoch: '', problems: [] }),
  };
}
