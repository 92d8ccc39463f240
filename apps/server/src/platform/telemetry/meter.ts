/** Something that a committed statement did, and what of it is counted: one of a fixed set of words, never an id. */
export interface Tally {
  readonly counter: 'acts' | 'auditEntries' | 'blockedAttempts' | 'grantsRevoked' | 'webhookAttempts';
  readonly label: string;
}

/** A pool as it is at any moment. */
export interface PoolCounts {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

export interface AnsweredRequest {
  readonly method: string;
  /** The pattern, `/v1/agents/:id`, or `unknown`. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

/** A client may send any token as a method (RFC 9110, section 9.1), and a label may not be just any. */
export const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/**
 * What the parts of the service tell of themselves. Whoever counts something is handed one; labels are words of the
 * source, never values that came with a request.
 */
export interface Meter {
  requestAnswered(request: AnsweredRequest): void;
  /** Called once a statement's transaction is committed, never for what was rolled back. */
  committed(tallies: readonly Tally[]): void;
  poolOpened(pool: PoolCounts): void;
  redisIsUp(isUp: boolean): void;
  /** While Redis is away, each process counts requests for itself. */
  rateLimiterIsDegraded(isDegraded: boolean): void;
  rateRefused(rule: string): void;
  cacheAsked(cache: string, isHit: boolean): void;
  jobEnded(job: string, seconds: number, hasFailed: boolean): void;
}

const nothing = () => {};

/** Counts nothing. */
export const noMeter: Meter = {
  requestAnswered: nothing,
  committed: nothing,
  poolOpened: nothing,
  redisIsUp: nothing,
  rateLimiterIsDegraded: nothing,
  rateRefused: nothing,
  cacheAsked: nothing,
  jobEnded: nothing,
};
