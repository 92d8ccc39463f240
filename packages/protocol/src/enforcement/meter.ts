/**
 * One limit that a call counts against. All counters of a call are charged in one operation, or none of them is.
 */
export interface Counter {
  /** The counter's identity: a JSON array as text, such as `["manifest","crm","lookup","calls","per_hour"]`. */
  readonly key: string;
  /** The most units inside the window: 0 to 2147483647. */
  readonly limit: number;
  /** The units that the call takes: 0 to 2147483647. */
  readonly units: number;
  /** The length of the sliding window; 0 for a counter per case, whose units never leave it. */
  readonly windowMs: number;
  /** The step to which the end of a charge is rounded up; 0 for a counter per case. */
  readonly grainMs: number;
}

/** All counters had room, and all are charged. A repeated reservation that is still held answers the same. */
export interface Reserved {
  readonly reserved: true;
  /** The units of each counter after this charge, in the order of the counters. */
  readonly used: readonly number[];
  /** The time of the charge by the store's clock, in milliseconds since 1970: that of the first, for a repeated one. */
  readonly atMs?: number;
}

/** A counter had no room. No counter is charged. */
export interface Full {
  /** The index of the first counter without room. */
  readonly full: number;
  /** The units of that counter without this call. */
  readonly used: number;
  /** The instant at which the units fit; null for a counter per case, and for units above the limit. */
  readonly retryAtMs: number | null;
}

/** The call id belongs to a charge that is final, or to other counters or units. No counter is charged. */
export interface Reused {
  readonly reused: true;
}

/** The state of one counter. */
export interface Usage {
  readonly used: number;
  /** As in `Full`; also null when the counter's units fit now. */
  readonly retryAtMs: number | null;
}

/** The state of a meter's store. */
export interface Health {
  readonly ok: boolean;
  readonly backend: 'redis' | 'postgres' | 'memory';
  readonly version: string;
  readonly epoch: string;
  /** The reasons why the meter must not be used; empty when `ok`. */
  readonly problems: readonly string[];
}

/** The reason why a meter gave no answer. */
export type MeterProblem = 'unreachable' | 'timeout' | 'data_loss' | 'misconfigured';

/** The error with which a meter says why it cannot answer. Any other error counts as `unreachable`. */
export class MeterError extends Error {
  override readonly name = 'MeterError';
  readonly problem: MeterProblem;

  constructor(problem: MeterProblem, options?: ErrorOptions) {
    super(`The caps meter cannot answer: ${problem}.`, options);
    this.problem = problem;
  }
}

/**
 * The store of all counters. Only the store's own clock counts. The engine makes one attempt for each call, and treats
 * an exception, an answer after the time limit and an answer of another shape as a meter that is unavailable.
 *
 * @see decision grants and caps in the glossary; `Counter` for the algorithm's inputs
 */
export interface CapsMeter {
  /** Charges all counters or none. At most 128 counters, whose keys are distinct. */
  reserve(tenant: string, callId: string, counters: readonly Counter[]): Promise<Reserved | Full | Reused>;
  /** Makes a held charge final, because the call left the process. */
  sent(tenant: string, callId: string): Promise<void>;
  /** Gives the units of a held charge back. @returns false once the charge is final */
  refundUnsent(tenant: string, callId: string): Promise<boolean>;
  /** Reads the counters and charges nothing. The answer has the order of the counters. */
  usage(tenant: string, counters: readonly Counter[]): Promise<readonly Usage[]>;
  /** Removes rows that no longer count. @returns their number; 0 for a store that removes them itself */
  prune(options?: { readonly batch?: number }): Promise<number>;
  health(): Promise<Health>;
}
