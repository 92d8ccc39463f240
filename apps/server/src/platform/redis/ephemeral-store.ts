/**
 * What may be lost: request counters, versions, and what is in flight between a person and an agent. Two adapters
 * keep the same promises, Redis and the process's own memory.
 */
export interface EphemeralStore {
  /** Keeps each text for its time at least. One round trip however many there are, and nobody sees half of them. */
  put(entries: readonly EphemeralEntry[]): Promise<void>;
  get(key: string): Promise<string | undefined>;
  remove(key: string): Promise<void>;
  /**
   * Charges bills in this order, each whole or not at all, and none after one that was refused. They are decided where
   * the counters are, in one round trip.
   * @returns the outcome of each, by its name
   */
  charge<Name extends string>(bills: readonly Bill<Name>[]): Promise<ReadonlyMap<Name, Settled>>;
  /** Takes one of so many slots for a time, or keeps the one it has. @returns whether it has one now */
  takeSlot(slot: Slot): Promise<boolean>;
  freeSlot(slot: Pick<Slot, 'key' | 'owner'>): Promise<void>;
  /** Says something to whoever listens, in every process. It may be lost, so it is a hint and no message. */
  publish(channel: string, hint: string): Promise<void>;
  /** @param listener must not throw: with what is thrown into it, the driver loses answers. @returns what ends it. */
  subscribe(channel: string, listener: (hint: string) => void): () => void;
  /** Told each time when what other processes wrote meanwhile may have been missed. */
  onLost(listener: () => void): void;
  /** @throws when the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface EphemeralEntry {
  readonly key: string;
  readonly value: string;
  readonly seconds: number;
}

export interface Slot {
  /** Where the slots are. */
  readonly key: string;
  readonly owner: string;
  readonly most: number;
  readonly seconds: number;
}

/** The charges of one payer, such as an address or a developer. All its keys share one hash tag. */
export interface Bill<Name extends string = string> {
  readonly name: Name;
  readonly charges: readonly Charge[];
  /** Told in any case. Where it is another than the expected one, nothing is charged. */
  readonly version?: VersionCheck;
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

/** A text that is replaced whenever the thing it stands for has changed. */
export interface VersionCheck {
  readonly key: string;
  /** A key that holds nothing is given this, for so many seconds. */
  readonly fresh: string;
  readonly seconds: number;
  readonly expected?: string;
}

export interface Settled {
  /** `stale` by its version; `skipped` after a bill that was refused. Only a `charged` bill was charged. */
  readonly outcome: 'charged' | 'refused' | 'stale' | 'skipped';
  /** For each charge, how much of its window is used by now. */
  readonly used: readonly number[];
  /** The version that the key holds, where there is one. */
  readonly version?: string;
}
