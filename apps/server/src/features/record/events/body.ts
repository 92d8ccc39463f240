import { Readable } from 'node:stream';
import type { Clock } from '../../../platform/clock.ts';
import type { StreamFormat } from './events.schema.ts';
import { framings } from './frames.rules.ts';
import { LAST_WORDS_WITHIN, MOST_WAITING, type Outlet } from './outlet.ts';

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
    if (body.readableLength > MOST_WAITING) body.destroy();
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
