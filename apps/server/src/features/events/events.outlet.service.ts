import { Readable } from 'node:stream';

/** What may wait in memory for one consumer, in bytes; who is further behind is cut off, and may resume. */
const MOST_WAITING = 1024 * 1024; // specification, Events

/** What goes out to one consumer, at the pace at which it is taken. */
export interface Outlet {
  readonly body: Readable;
  /** Cuts the consumer off when too much waits for it. */
  write(frame: Buffer | string): void;
  /** Resolves when hardly anything waits for the consumer, or it is gone. */
  taken(): Promise<void>;
  /** Or on its way to be. */
  readonly isClosed: () => boolean;
  /** With these last words, for which the consumer has a moment. */
  end(words: string): void;
}

const LAST_WORDS_WITHIN = 2000; // milliseconds

export function outlet(onClosed: () => void): Outlet {
  let isEnding = false;
  let proceed: (() => void) | undefined;
  const goOn = () => {
    proceed?.();
    proceed = undefined;
  };
  const body = new Readable({ read: goOn });
  body.once('close', () => {
    goOn();
    onClosed();
  });
  const isClosed = () => isEnding || body.destroyed;

  return {
    body,
    isClosed,
    write(frame) {
      if (isClosed()) return;
      body.push(frame);
      if (body.readableLength > MOST_WAITING) body.destroy();
    },
    taken() {
      if (isClosed() || body.readableLength === 0) return Promise.resolve();
      return new Promise((resolve) => {
        proceed = resolve;
      });
    },
    end(words) {
      if (isClosed()) return;
      isEnding = true;
      body.push(words);
      body.push(null);
      const timer = setTimeout(() => body.destroy(), LAST_WORDS_WITHIN).unref();
      body.once('close', () => clearTimeout(timer));
    },
  };
}
