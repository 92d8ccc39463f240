import { finished, Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Finished, Packable } from '../../finished.ts';
import { FROM_ANY_ORIGIN, variesBy } from './headers.ts';

/** The headers of every answer of a route that is `isPublic`. Answers that are sent before the request path have them too. */
export const FOR_ALL_ORIGINS = {
  ...FROM_ANY_ORIGIN,
  'cross-origin-resource-policy': 'cross-origin',
} as const;

/** Sends a document, unless the client holds it. @param headers those that depend on the document, with its type */
export function sendFinished(
  { headers: asked }: FastifyRequest,
  reply: FastifyReply,
  document: Finished,
  headers: Readonly<Record<string, string>>,
): FastifyReply {
  reply.headers(headers).header('etag', document.etag);
  if (isHeld(document, asked['if-none-match'])) return reply.code(304).send(null);
  return reply.serializer(asIs).send(document.body);
}

/** Sends a document, compressed to clients that take that. */
export function sendPacked(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Packable,
  headers: Readonly<Record<string, string>>,
): FastifyReply {
  const vary = variesBy(reply, 'Accept-Encoding');
  if (!takesBrotli(request.headers['accept-encoding']))
    return sendFinished(request, reply, document, { ...headers, vary });
  return sendFinished(request, reply, document.packed(), { ...headers, vary, 'content-encoding': 'br' });
}

/**
 * Whether a client names Brotli, and does not refuse it (RFC 9110, section 12.5.3). Browsers name it wherever passkeys
 * work: over HTTPS, and on the machine itself.
 */
const takesBrotli = (accepted: string | string[] = '') =>
  /(^|[\s,])br\s*(,|$|;\s*q=(1|0?\.\d*[1-9]))/i.test(accepted.toString());

/** Fastify's own serializer adds a charset, which media types such as `application/jwk-set+json` forbid. */
const asIs = (body: string): string => body;

/** Whether a client that sends this `If-None-Match` holds the document already (RFC 9110 section 13.1.2). */
function isHeld({ etag }: Finished, ifNoneMatch?: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const held = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return held.includes(etag) || held.includes('*');
}

/** A body that goes on until either side ends it. */
interface LiveBody {
  readonly body: Readable;
  readonly mediaType: string;
  /** Ends it at once. */
  cutOff(): void;
}

/** Answers with a body that goes on. */
export function sendLive(reply: FastifyReply, { body, mediaType, cutOff }: LiveBody): FastifyReply {
  finished(reply.raw, cutOff); // Fastify does this too, but not for HEAD
  return reply
    .headers({ 'content-type': mediaType, 'x-accel-buffering': 'no', connection: 'close' })
    .send(body);
}

/** An answer that is made while it is sent. */
export interface Portions {
  /** Texts, or bytes, of at most a few megabytes. The next is made when the client has taken the one before. */
  readonly texts: AsyncIterable<string | Uint8Array>;
  /** Ends whatever the answer is made from. Without it, nothing is held between two portions. */
  readonly close?: () => Promise<void>;
}

/** Milliseconds in which a client has to take one portion, and those that it may be late with all of them. */
const LONGEST_PORTION = 60_000;
/** Bytes for each millisecond that a client may take: two megabits a second. */
const LEAST_RATE = 250;

/**
 * The body of an answer in portions. Between two portions other requests are served. A client that takes them too slowly is
 * cut off, because a connection of the database may wait for it. Where none does, other heavy reads have the place meanwhile.
 */
export function bodyOf({ texts, close }: Portions, reply: FastifyReply, longest = LONGEST_PORTION): Readable {
  const place = close ? null : reply.request.heavyRead;
  const body = Readable.from(inTurns(texts, { longest, place, cutOff: () => body.destroy() }), {
    objectMode: false,
  });
  if (close) finished(body, () => void close());
  finished(reply.raw, () => body.destroy()); // Fastify does this too, but not for HEAD
  return body;
}

interface Turns {
  readonly longest: number;
  readonly place: FastifyRequest['heavyRead'];
  readonly cutOff: () => void;
}

async function* inTurns(texts: Portions['texts'], { longest, place, cutOff }: Turns) {
  let left = longest;
  for await (const text of texts) {
    const sentAt = performance.now();
    const timer = setTimeout(cutOff, Math.min(longest, left)).unref();
    place?.give();
    try {
      yield text;
    } finally {
      clearTimeout(timer);
    }
    left += text.length / LEAST_RATE - (performance.now() - sentAt);
    await place?.take();
    await nextTurn();
  }
}
