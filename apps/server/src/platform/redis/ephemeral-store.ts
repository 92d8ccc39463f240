/**
 * What may be lost: request counters and what is in flight between a person and an agent. Two adapters keep
 * the same promises, Redis and the process's own memory.
 */
export interface EphemeralStore {
  /** Keeps each text for its time at least. One round trip however many there are. */
  put(entries: readonly Kept[]): Promise<void>;
  get(key: string): Promise<string | undefined>;
  remove(key: string): Promise<void>;
  /** Counts all of a budget's charges, or, when one is over its limit, none. */
  spend(charges: readonly Charge[]): Promise<Spent>;
  /** @throws when the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Kept {
  readonly key: string;
  readonly value: string;
  readonly seconds: number;
}

/** One count in a fixed window. The keys of one call share a hash tag, so that a cluster takes them together. */
export interface Charge {
  readonly key: string;
  readonly limit: number;
  /** 0 asks whether there is room and takes none. */
  readonly cost: 0 | 1;
  /** How long the count is of use, in seconds. */
  readonly seconds: number;
}

export interface Spent {
  readonly isAdmitted: boolean;
  /** For each charge, what its window has used by now. */
  readonly used: readonly number[];
}
