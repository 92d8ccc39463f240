/** Bytes that may wait in memory for one consumer. A slower consumer is cut off, and may resume. */
export const MOST_WAITING = 1024 * 1024;

/** Milliseconds in which a consumer must read the end of its stream. */
export const LAST_WORDS_WITHIN = 2000;

/** An event as streams send it: `envelope` is its text. */
export interface StreamedEvent {
  readonly id: string;
  readonly type: string;
  readonly envelope: string;
}

/** Why the service ends a stream. */
export type Ending = 'stopping' | 'credentialEnded' | 'tooMany';

/**
 * Sends events to one consumer over one protocol. Every method that sends cuts the consumer off when more
 * than `MOST_WAITING` bytes wait for it.
 */
export interface Outlet {
  event(event: StreamedEvent): void;
  /** Says that events are missing here. The list of events has the retained events after this cursor. */
  gap(cursor: string): void;
  keepalive(): void;
  /** Resolves when the consumer has taken nearly everything, or is gone. */
  taken(): Promise<void>;
  /** True from the moment at which the outlet begins to close. */
  readonly isClosed: () => boolean;
  onceClosed(listener: () => void): void;
  /** Closes with a reason, which the consumer has a moment to read. */
  end(why: Ending): void;
  /** Closes at once, without a reason. */
  cutOff(): void;
}
