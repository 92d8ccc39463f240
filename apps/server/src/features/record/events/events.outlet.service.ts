/** What may wait in memory for one consumer, in bytes; who is further behind is cut off, and may resume. */
export const MOST_WAITING = 1024 * 1024; // specification, Events

/** What a consumer who is sent away has to take the last words, in milliseconds. */
export const LAST_WORDS_WITHIN = 2000;

/** An event as it is told: `envelope` is its text. */
export interface StreamedEvent {
  readonly id: string;
  readonly type: string;
  readonly envelope: string;
}

/** Why the service ends a stream. */
export type Ending = 'stopping' | 'keyEnded' | 'tooMany';

/**
 * What goes out to one consumer, at the pace at which it is taken, in the words of one protocol. Whatever is sent cuts
 * the consumer off when too much waits for it.
 */
export interface Outlet {
  event(event: StreamedEvent): void;
  /** Says that events are missing here: the list of events has those that are retained, after this cursor. */
  gap(cursor: string): void;
  keepalive(): void;
  /** Resolves when hardly anything waits for the consumer, or it is gone. */
  taken(): Promise<void>;
  /** Or on its way to be. */
  readonly isClosed: () => boolean;
  onceClosed(listener: () => void): void;
  /** With last words, for which the consumer has a moment. */
  end(why: Ending): void;
  /** Without any. */
  cutOff(): void;
}
