/**
 * What may be lost: request counters, versions, and what is in flight between a person and an agent. Two adapters
 * keep the same promises, Redis and the process's own memory.
 */
export interface EphemeralStore {
  /** Keeps each text for its time at least. One round trip however many there are, and nobody sees half of them. */
  put(entries: readonly Kept[]): Promise<void>;
  get(key: string): Promise<string | undefined>;
  remove(key: string): Promise<void>;
  /** All that one request charges and has to know, decided where the counters are, in one round trip. */
  spend(order: Order): Promise<Spent>;
  /** Takes one of so many places for a time, or keeps the one it has. @returns whether it has one now */
  hold(place: Place): Promise<boolean>;
  letGo(place: Pick<Place, 'key' | 'holder'>): Promise<void>;
  /** Says something to whoever listens, in every process. It may be lost, so it is a hint and no message. */
  tell(channel: string, hint: string): Promise<void>;
  /** @param listener must not throw: with what is thrown into it, the driver loses answers. @returns what ends it. */
  listen(channel: string, listener: (hint: string) => void): () => void;
  /** Told each time when what other processes wrote meanwhile may have been missed. */
  onLost(listener: () => void): void;
  /** @throws when the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Kept {
  readonly key: string;
  readonly value: string;
  readonly seconds: number;
}

export interface Place {
  /** Where the places are. */
  readonly key: string;
  readonly holder: string;
  readonly most: number;
  readonly seconds: number;
}

export interface Order {
  /** In this order. Each is charged whole or not at all, and none after one that was refused. */
  readonly groups: readonly (readonly Charge[])[];
  readonly watch?: Watch;
}

/** One count in a fixed window. */
export interface Charge {
  readonly key: string;
  readonly limit: number;
  /** 0 asks whether there is room and takes none. */
  readonly cost: 0 | 1;
  /** How long the count is of use, in seconds. */
  readonly seconds: number;
}

/** Texts to be told. */
export interface Watch {
  /** One that holds nothing is given `fresh`, for as many seconds. */
  readonly keys: readonly string[];
  readonly fresh: string;
  readonly seconds: number;
  /** What the last of them should hold: when it does not, the last group is not charged. */
  readonly expected?: string;
}

export interface Spent {
  /** The place of the group that had no room. */
  readonly refusedAt?: number;
  /** Whether the last key watched held something else than was expected. */
  readonly isStale: boolean;
  /** What the keys watched hold. */
  readonly values: readonly string[];
  /** For each charge of each group, what its window has used by now. */
  readonly used: readonly (readonly number[])[];
}
