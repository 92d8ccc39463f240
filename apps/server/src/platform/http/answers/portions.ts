import { finished, Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** An answer that is made while it is sent. */
export interface Portions {
  /** Texts, or bytes, of at most a few megabytes. The next is made when the client has taken the one before. */
  readonly texts: AsyncIterable<string | Uint8Array>;
  /** Ends whatever the answer is made from. */
  readonly close: () => Promise<void>;
}

/** Milliseconds in which a client has to take one portion. */
const LONGEST_PORTION = 60_000;

/**
 * The body of an answer in portions. Between two portions other requests are served. A client that takes a portion too
 * slowly is cut off, because a connection of the database waits for it.
 */
export function bodyOf({ texts, close }: Portions, reply: FastifyReply, longest = LONGEST_PORTION): Readable {
  const body = Readable.from(
    inTurns(texts, longest, () => body.destroy()),
    { objectMode: false },
  );
  finished(body, () => void close());
  finished(reply.raw, () => body.destroy()); // Fastify does this too, but not for HEAD
  return body;
}

async function* inTurns(texts: Portions['texts'], longest: number, cutOff: () => void) {
  for await (const text of texts) {
    const timer = setTimeout(cutOff, longest).unref();
    try {
      yield text;
    } finally {
      clearTimeout(timer);
    }
    await nextTurn();
  }
}
