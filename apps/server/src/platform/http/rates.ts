import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Charge, EphemeralStore, Spent } from '../redis/ephemeral-store.ts';
import { memoryStore } from '../redis/memory-store.ts';
import type { Budget } from './rate-rules.ts';

const WINDOW_SECONDS = 60;
/** A window's count is kept for one window more: the store's clock and ours need not agree to the second. */
const KEPT_SECONDS = 2 * WINDOW_SECONDS;

/** What one request leaves of its tightest budget, and the refusal if it was one too many. */
export interface Standing {
  readonly remaining: number;
  readonly headers: Readonly<Record<string, number>>;
  readonly refusal?: AppError;
}

/** Charges budgets; those of one subject all or none. Where there is nothing to charge there is no standing. */
export type Spend = (budgets: readonly Budget[]) => Promise<Standing | undefined>;

/**
 * Fixed windows, aligned to the minute. While the store is away each process counts for itself, with the same
 * limits: nothing passes uncounted, and nothing is refused for that reason.
 */
export function rateLimiter(store: EphemeralStore, clock: Clock): Spend {
  const own = memoryStore(clock);

  return async (budgets) => {
    if (budgets.length === 0) return undefined;
    const now = Math.floor(clock().getTime() / 1000);
    const resetsAt = now - (now % WINDOW_SECONDS) + WINDOW_SECONDS;
    // Sent in one turn of the event loop, hence in one round trip: a subject is a hash tag of its own.
    const bySubject = [...Map.groupBy(budgets, ({ subject }) => subject).values()];
    const standings = await Promise.all(
      bySubject.map(async (same) => {
        const charges = same.map((budget) => chargeOf(budget, resetsAt));
        const spent = await store.spend(charges).catch(() => own.spend(charges));
        return standingOf(same, spent, now, resetsAt);
      }),
    );
    return standings.reduce(tighter);
  };
}

function chargeOf({ rule, subject, limit, cost }: Budget, resetsAt: number): Charge {
  return { key: `bh:{${subject}}:rate:${rule}:${resetsAt}`, limit, cost, seconds: KEPT_SECONDS };
}

/** A refusal before what is merely short. */
function tighter(a: Standing, b: Standing): Standing {
  if (a.refusal || b.refusal) return a.refusal ? a : b;
  return b.remaining < a.remaining ? b : a;
}

function standingOf(
  budgets: readonly Budget[],
  { isAdmitted, used }: Spent,
  now: number,
  resetsAt: number,
): Standing {
  const all = budgets.map(({ rule, limit }, at) => ({
    rule,
    limit,
    remaining: Math.max(0, limit - (used[at] ?? 0)),
  }));
  const tightest = all.reduce((least, each) => (each.remaining < least.remaining ? each : least));
  const { rule, limit, remaining } = tightest;
  const headers = {
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': resetsAt,
  };
  if (isAdmitted) return { remaining, headers };

  const retryAfter = resetsAt - now;
  const message = `Rate limit exceeded, retry in ${retryAfter} seconds`;
  const details = { rule, limit, windowSeconds: WINDOW_SECONDS, retryAfter };
  const refusal = new AppError('RATE_LIMITED', message, details);
  return { remaining, headers: { ...headers, 'retry-after': retryAfter }, refusal };
}

/** One subject an IPv4 address, or an IPv6 network: a home or a server has 2⁶⁴ of those addresses. */
export function subjectOf(address: string): string {
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4) return v4;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const missing = 8 - groups.length - tail.split(':').filter(Boolean).length;
  const full = address.includes('::') ? [...groups, ...Array(missing).fill('0'), ...tail.split(':')] : groups;
  return full.slice(0, 4).join(':');
}
