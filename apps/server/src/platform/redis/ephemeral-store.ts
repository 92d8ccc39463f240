/**
 * Holds data that may be lost: request counters, versions, and requests in flight between a person and an
 * agent. Two adapters keep the same promises, Redis and the process's own memory.
 */
export interface EphemeralStore {
  /** Keeps each text for its time at least, all in one round trip. After a failure some may be kept. */
  put(entries: readonly EphemeralEntry[]): Promise<void>;
  get(key: string): Promise<string | undefined>;
  remove(key: string): Promise<void>;
  /** Keeps these texts for another time, from now on, all in one round trip. A text that is gone stays gone. */
  keepFor(keys: readonly string[], seconds: number): Promise<void>;
  /**
   * Charges bills in this order, each whole or not at all, and none after a refused bill. It takes one round
   * trip, and more when a bill is refused or nearly so: then a later bill may be charged for as long as it takes
   * to take that back.
   * @returns the outcome of each bill up to the first refused one, by its name
   */
  charge<Name extends string>(bills: readonly PayerCharges<Name>[]): Promise<ReadonlyMap<Name, Settled>>;
  /** Charges all of the bills by counts that are leased to this process, without a trip, or none of them. */
  chargeLeased<Name extends string>(
    bills: readonly PayerCharges<Name>[],
  ): ReadonlyMap<Name, Settled> | undefined;
  /**
   * Takes one of the slots for a time, or keeps the owner's own.
   * @returns whether the owner has a slot now
   */
  takeSlot(slot: Slot): Promise<boolean>;
  freeSlot(slot: Pick<Slot, 'key' | 'owner'>): Promise<void>;
  /** Replaces a version. Once it returns, no process charges a bill by the former one. */
  replaceVersion(version: EphemeralEntry): Promise<void>;
  /** Says something to all listeners, in every process. It may be lost, so it is a hint and no message. */
  publish(channel: string, hint: string): Promise<void>;
  /**
   * @param listener must not throw, because the driver would lose answers
   * @returns a function that ends the listening
   */
  subscribe(channel: string, listener: (hint: string) => void): () => void;
  /** Calls the listener each time that writes of other processes may have been missed. */
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
  /** The key of all slots. */
  readonly key: string;
  readonly owner: string;
  readonly most: number;
  readonly seconds: number;
}

/** The charges of one payer, such as an address or a developer. All its keys share one hash tag. */
export interface PayerCharges<Name extends string = string> {
  readonly name: Name;
  readonly charges: readonly Charge[];
  /** Returned in any case. Nothing is charged when it differs from the expected version. */
  readonly version?: VersionCheck;
}

/** One count in a fixed window. */
export interface Charge {
  readonly key: string;
  readonly limit: number;
  /** 0 checks for room and takes none. */
  readonly cost: 0 | 1;
  /** The seconds for which the count is of use. */
  readonly seconds: number;
}

/** A text that is replaced whenever its subject has changed. */
export interface VersionCheck {
  readonly key: string;
  /** A key without a version gets this one, for so many seconds. */
  readonly fresh: string;
  readonly seconds: number;
  readonly expected?: string;
}

export interface Settled {
  /** `stale` by its version. Only a `charged` bill was charged. */
  readonly outcome: 'charged' | 'refused' | 'stale';
  /** The used part of the window, for each charge. Empty when the bill is stale. */
  readonly used: readonly number[];
  /** The version that the key holds, if any. */
  readonly version?: string;
}
