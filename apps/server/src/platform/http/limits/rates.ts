import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type {
  Charge,
  EphemeralStore,
  PayerCharges,
  Settled,
  VersionCheck,
} from '../../redis/ephemeral-store.ts';
import { memoryStore } from '../../redis/memory-store.ts';
import type { RateCount } from './rate-rules.ts';

/** A count is stored for a minute more than its window, because the store's clock and ours may differ by seconds. */
const KEPT_LONGER = 60;

/** The room that one request leaves in its tightest count, and the refusal if it was one too many. */
export interface RateStatus {
  readonly remaining: number;
  /** In seconds since the epoch. */
  readonly resetsAt: number;
  /** Whether the count was read and not charged. Charged counts say more. */
  readonly isLook: boolean;
  readonly headers: Readonly<Record<string, number>>;
  readonly refusal?: AppError;
}

/** The payers of a request, the recipient of a mail, a credential of the vault, and an OAuth client. A token is a grant token, by its id. */
export type Payer =
  | 'address'
  | 'resource'
  | 'developer'
  | 'session'
  | 'token'
  | 'recipient'
  | 'credential'
  | 'client';

/** The counts of one payer, which are charged all or none. */
export interface RateCharges {
  readonly payer: Payer;
  readonly counts: readonly RateCount[];
  readonly version?: VersionCheck;
}

export interface ChargeResult {
  /** Undefined when nothing was charged. */
  readonly rateStatus: RateStatus | undefined;
  /** Without versions while this process counts by itself, and without bills that depend on a version. */
  readonly settled: ReadonlyMap<Payer, Settled>;
}

/** Charges bills in this order and in at most one round trip, and none after a refused bill. */
export type ChargeRates = (bills: readonly RateCharges[]) => Promise<ChargeResult>;

/**
 * Fixed windows, aligned to the minute, the hour or the day (UTC). While the store is away each process counts by itself, with the same
 * limits: no request passes uncounted, and no request is refused for that reason.
 * @param onDegraded called once each time when that begins, and with undefined when it is over
 * @param onRefused called with the rule that refused
 * @param onCounted called for each request, with whether its counts were leased to this process
 */
export function rateLimiter(
  store: EphemeralStore,
  clock: Clock,
  onDegraded: (error?: unknown) => void = () => {},
  onRefused: (rule: string) => void = () => {},
  onCounted: (isLeased: boolean) => void = () => {},
): ChargeRates {
  const own = memoryStore(clock);
  let isDegraded = false;
  const turn = (isNow: boolean, error?: unknown) => {
    if (isDegraded === isNow) return;
    isDegraded = isNow;
    onDegraded(error);
  };

  const settle = async (bills: readonly PayerCharges<Payer>[]) => {
    try {
      const settled = await store.charge(bills);
      turn(false);
      return settled;
    } catch (error) {
      turn(true, error);
      // The store holds the versions. A bill that expects a version has to wait for the database.
      const sure = bills.filter(({ version }) => version?.expected === undefined);
      return own.charge(sure.map(({ name, charges }) => ({ name, charges })));
    }
  };

  return async (bills) => {
    if (bills.every(({ counts, version }) => counts.length === 0 && !version)) return NOTHING;
    const now = Math.floor(clock().getTime() / 1000);
    const due = bills.map((bill) => billOf(bill, now));
    const leased = store.chargeLeased(due);
    onCounted(leased !== undefined);
    const settled = leased ?? (await settle(due));
    let rateStatus: RateStatus | undefined;
    for (const { payer, counts } of bills) {
      const { outcome, used } = settled.get(payer) ?? {};
      const isDecided = outcome === 'charged' || outcome === 'refused';
      if (!isDecided || !used || counts.length === 0) continue;
      const own = rateStatusOf(counts, used, outcome === 'refused', now);
      if (own.refusal) onRefused(String(own.refusal.details?.rule));
      rateStatus = rateStatus ? tighter(rateStatus, own) : own;
    }
    return { rateStatus, settled };
  };
}

const NOTHING: ChargeResult = { rateStatus: undefined, settled: new Map() };

/** When the count's window ends, in seconds since the epoch, as `now` is. */
const resetOf = ({ windowSeconds }: RateCount, now: number): number =>
  now - (now % windowSeconds) + windowSeconds;

function billOf({ payer, counts, version }: RateCharges, now: number): PayerCharges<Payer> {
  const charges = counts.map((count) => chargeOf(count, now));
  return { name: payer, charges, ...(version && { version }) };
}

function chargeOf(count: RateCount, now: number): Charge {
  const { rule, subject, limit, cost, windowSeconds } = count;
  const key = `bh:{${subject}}:rate:${rule}:${resetOf(count, now)}`;
  return { key, limit, cost, seconds: windowSeconds + KEPT_LONGER };
}

/**
 * Chooses the status that the headers show: a refusal before a short count, a charged count before one that
 * was only read, and of two equals the later.
 */
export function tighter(a: RateStatus, b: RateStatus): RateStatus {
  if (a.refusal || b.refusal) return a.refusal ? a : b;
  if (a.isLook !== b.isLook) return a.isLook ? b : a;
  return isTighter(a, b) ? a : b;
}

type Room = Pick<RateStatus, 'remaining' | 'resetsAt'>;

const isTighter = (a: Room, b: Room) =>
  a.remaining === b.remaining ? a.resetsAt > b.resetsAt : a.remaining < b.remaining;

function rateStatusOf(
  counts: readonly RateCount[],
  used: readonly number[],
  isRefused: boolean,
  now: number,
): RateStatus {
  const all = counts.map((count, at) => ({
    count,
    remaining: Math.max(0, count.limit - (used[at] ?? 0)),
    resetsAt: resetOf(count, now),
  }));
  const { count, remaining, resetsAt } = all.reduce((least, each) => (isTighter(each, least) ? each : least));
  const { rule, limit, windowSeconds, cost } = count;
  const isLook = cost === 0;
  const headers = {
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': resetsAt,
  };
  if (!isRefused) return { remaining, resetsAt, isLook, headers };

  const retryAfter = resetsAt - now;
  const message = `Rate limit exceeded, retry in ${retryAfter} seconds`;
  const details = { rule, limit, windowSeconds, retryAfter };
  const refusal = new AppError('RATE_LIMITED', message, details, headers);
  return { remaining, resetsAt, isLook, headers: { ...headers, 'retry-after': retryAfter }, refusal };
}

/** One subject per IPv4 address, or per IPv6 network: a home or a server has 2⁶⁴ of those addresses. */
export function subjectOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const missing = 8 - groups.length - tail.split(':').filter(Boolean).length;
  const full = address.includes('::') ? [...groups, ...Array(missing).fill('0'), ...tail.split(':')] : groups;
  return full.slice(0, 4).join(':');
}
