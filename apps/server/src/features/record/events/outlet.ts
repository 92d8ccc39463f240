import { Readable } from 'node:stream';
import type { Clock } from '../../../platform/clock.ts';
import { framings } from './events.rules.ts';
import type { StreamFormat } from './events.schema.ts';

/** Bytes that may wait in memory for one consumer. A slower consumer is cut off, and may resume. */
export const MAX_WAITING = 1024 * 1024;

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
 * than `MAX_WAITING` bytes wait for it.
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

/** An event is sent or left out; with `end`, the consumer may see it and all others no more. */
export type Admission = 'sent' | 'left out' | 'end';

export type Admit = (event: StreamedEvent) => Promise<Admission>;

/**
 * An outlet that asks about each event before it sends it. Answers are awaited one after the other, so events and gaps
 * keep their order. A question that fails cuts the consumer off, who may resume.
 */
export function admitting(outlet: Outlet, admit: Admit, onTrouble: (error: unknown) => void): Outlet {
  let turns = Promise.resolve();
  let waiting = 0; // bytes of the events whose turn has not come

  const inTurn = (act: () => void | Promise<void>) => {
    turns = turns
      .then(() => (outlet.isClosed() ? undefined : act()))
      .catch((error: unknown) => {
        onTrouble(error);
        outlet.cutOff();
      });
  };
  return {
    ...outlet,
    event(event) {
      const bytes = Buffer.byteLength(event.envelope);
      waiting += bytes;
      if (waiting > MAX_WAITING) return outlet.cutOff();
      inTurn(async () => {
        waiting -= bytes;
        const admission = await admit(event);
        if (admission === 'sent') outlet.event(event);
        if (admission === 'end') outlet.end('credentialEnded');
      });
    },
    gap: (cursor) => inTurn(() => outlet.gap(cursor)),
    async taken() {
      await turns;
      await outlet.taken();
    },
  };
}

export interface BodyOutlet extends Outlet {
  readonly body: Readable;
  readonly mediaType: string;
}

/** An outlet that writes to the body of an answer. */
export function bodyOutlet(format: StreamFormat, clock: Clock): BodyOutlet {
  const framing = framings[format];
  let isEnding = false;
  let proceed: (() => void) | undefined;
  const goOn = () => {
    proceed?.();
    proceed = undefined;
  };
  const body = new Readable({ read: goOn });
  body.once('close', goOn);
  const isClosed = () => isEnding || body.destroyed;
  const write = (frame: Buffer | string) => {
    if (isClosed()) return;
    body.push(frame);
    if (body.readableLength > MAX_WAITING) body.destroy();
  };

  return {
    body,
    mediaType: framing.mediaType,
    isClosed,
    event: ({ id, type, envelope }) => write(framing.event(id, type, envelope)),
    gap: (cursor) => write(framing.gap(cursor, clock())),
    keepalive: () => write(framing.keepalive),
    taken() {
      if (isClosed() || body.readableLength === 0) return Promise.resolve();
      return new Promise((resolve) => {
        proceed = resolve;
      });
    },
    onceClosed: (listener) => void body.once('close', listener),
    end() {
      if (isClosed()) return;
      isEnding = true;
      body.push(framing.closing); // names no reason: a client reconnects and then gets the refusal
      body.push(null);
      const timer = setTimeout(() => body.destroy(), LAST_WORDS_WITHIN).unref();
      body.once('close', () => clearTimeout(timer));
    },
    cutOff: () => void body.destroy(),
  };
}
