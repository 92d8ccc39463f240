import { Readable } from 'node:stream';
import { CLOSING, eventFrame, gapFrame, KEEPALIVE } from './events.frames.rules.ts';
import { LAST_WORDS_WITHIN, MOST_WAITING, type Outlet } from './events.outlet.service.ts';

/** An outlet that writes server-sent events to the body of an answer. */
export function bodyOutlet(): Outlet & { readonly body: Readable } {
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
    if (body.readableLength > MOST_WAITING) body.destroy();
  };

  return {
    body,
    isClosed,
    event: ({ id, type, envelope }) => write(eventFrame(id, type, envelope)),
    gap: (cursor) => write(gapFrame(cursor)),
    keepalive: () => write(KEEPALIVE),
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
      body.push(CLOSING); // names no reason: a client of this format reconnects and then gets the refusal
      body.push(null);
      const timer = setTimeout(() => body.destroy(), LAST_WORDS_WITHIN).unref();
      body.once('close', () => clearTimeout(timer));
    },
    cutOff: () => void body.destroy(),
  };
}
