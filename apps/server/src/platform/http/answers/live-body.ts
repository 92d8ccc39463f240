import { finished, type Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

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
