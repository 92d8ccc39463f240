/** An effect of a committed statement that is counted, by one of a fixed set of words and never by an id. */
export interface Tally {
  readonly counter:
    | 'acts'
    | 'auditEntries'
    | 'blockedAttempts'
    | 'denials'
    | 'grantsRevoked'
    | 'webhookAttempts';
  readonly label: string;
}

/** The state of a pool. */
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

/** A client may send any token as a method (RFC 9110, section 9.1), and a label may only take these. */
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
 * Counts and times of the parts of the service, which receive a meter. Labels are words of the source, never
 * values that came with a request.
 */
export interface Meter {
  requestAnswered(request: AnsweredRequest): void;
  /** Called after the commit of a statement's transaction, never for statements that were rolled back. */
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

/** A meter that counts nothing. */
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
