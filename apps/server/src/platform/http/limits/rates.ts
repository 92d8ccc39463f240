import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { Charge, EphemeralStore, Order, Spent, Watch } from '../../redis/ephemeral-store.ts';
import { memoryStore } from '../../redis/memory-store.ts';
import type { Sighting } from '../callers/known-callers.ts';
import type { Budget } from './rate-rules.ts';

const WINDOW_SECONDS = 60;
/** A window's count is kept for one window more: the store's clock and ours need not agree to the second. */
const KEPT_SECONDS = 2 * WINDOW_SECONDS;

/** What one request leaves of its tightest budget, and the refusal if it was one too many. */
export interface Standing {
  readonly remaining: number;
  /** Whether nothing was taken of the budget: what is counted elsewhere says more. */
  readonly isLook: boolean;
  readonly headers: Readonly<Record<string, number>>;
  readonly refusal?: AppError;
}

/** One group's budgets are charged all or none, and no group after one that is refused. */
export type Groups = readonly (readonly Budget[])[];

export interface Settled {
  /** None where there was nothing to charge. */
  readonly standing: Standing | undefined;
  /** None where nothing was watched, or this process counted. */
  readonly sighting: Sighting | undefined;
}

/** Charges budgets in one round trip. */
export type Spend = (groups: Groups, watch?: Watch) => Promise<Settled>;

export interface RateLimiter {
  readonly spend: Spend;
  /** Whether this process counted the last request by itself, because the store did not. */
  readonly isDegraded: () => boolean;
}

/**
 * Fixed windows, aligned to the minute. While the store is away each process counts for itself, with the same
 * limits: nothing passes uncounted, and nothing is refused for that reason.
 * @param onDegraded told once each time when that begins, and with undefined when it is over.
 * @param onRefused told which rule refused.
 */
export function rateLimiter(
  store: EphemeralStore,
  clock: Clock,
  onDegraded: (error?: unknown) => void = () => {},
  onRefused: (rule: string) => void = () => {},
): RateLimiter {
  const own = memoryStore(clock);
  let isDegraded = false;
  const turn = (isNow: boolean, error?: unknown) => {
    if (isDegraded === isNow) return;
    isDegraded = isNow;
    onDegraded(error);
  };

  const charge = async (groups: Order['groups'], watch: Watch | undefined) => {
    try {
      const spent = await store.spend({ groups, ...(watch && { watch }) });
      turn(false);
      return { spent, sighting: watch && sightingOf(spent) };
    } catch (error) {
      turn(true, error);
      // What was recalled cannot be checked, so the group that depends on it waits for the database.
      const sure = watch?.expected === undefined ? groups : groups.slice(0, -1);
      return { spent: await own.spend({ groups: sure }), sighting: undefined };
    }
  };

  const spend: Spend = async (groups, watch) => {
    if (!watch && groups.every(({ length }) => length === 0)) return NOTHING;
    const now = Math.floor(clock().getTime() / 1000);
    const resetsAt = now - (now % WINDOW_SECONDS) + WINDOW_SECONDS;
    const charges = groups.map((group) => group.map((budget) => chargeOf(budget, resetsAt)));
    const { spent, sighting } = await charge(charges, watch);
    const standings = spent.used.flatMap((used, at) => {
      const isLeftOut = spent.isStale && at === groups.length - 1;
      const budgets = groups[at] ?? [];
      if (isLeftOut || budgets.length === 0) return [];
      return [standingOf(budgets, used, at === spent.refusedAt, now, resetsAt)];
    });
    for (const { refusal } of standings) if (refusal) onRefused(String(refusal.details?.rule));
    const [first, ...rest] = standings;
    return { standing: first && rest.reduce(tighter, first), sighting };
  };
  return { spend, isDegraded: () => isDegraded };
}

const NOTHING: Settled = { standing: undefined, sighting: undefined };

const sightingOf = ({ isStale, values: [changes = '', version] }: Spent): Sighting => ({
  isStale,
  changes,
  version,
});

function chargeOf({ rule, subject, limit, cost }: Budget, resetsAt: number): Charge {
  return { key: `bh:{${subject}}:rate:${rule}:${resetsAt}`, limit, cost, seconds: KEPT_SECONDS };
}

/** A refusal before what is merely short, what was charged before what was looked at; of equals, the later. */
export function tighter(a: Standing, b: Standing): Standing {
  if (a.refusal || b.refusal) return a.refusal ? a : b;
  if (a.isLook !== b.isLook) return a.isLook ? b : a;
  return a.remaining < b.remaining ? a : b;
}

function standingOf(
  budgets: readonly Budget[],
  used: readonly number[],
  isRefused: boolean,
  now: number,
  resetsAt: number,
): Standing {
  const all = budgets.map((budget, at) => ({
    ...budget,
    remaining: Math.max(0, budget.limit - (used[at] ?? 0)),
  }));
  const tightest = all.reduce((least, each) => (each.remaining < least.remaining ? each : least));
  const { rule, limit, remaining, cost } = tightest;
  const isLook = cost === 0;
  const headers = {
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': resetsAt,
  };
  if (!isRefused) return { remaining, isLook, headers };

  const retryAfter = resetsAt - now;
  const message = `Rate limit exceeded, retry in ${retryAfter} seconds`;
  const details = { rule, limit, windowSeconds: WINDOW_SECONDS, retryAfter };
  const refusal = new AppError('RATE_LIMITED', message, details);
  return { remaining, isLook, headers: { ...headers, 'retry-after': retryAfter }, refusal };
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
