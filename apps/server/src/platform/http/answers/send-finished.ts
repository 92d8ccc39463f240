import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Finished } from '../../finished.ts';
import { FROM_ANY_ORIGIN } from './cors.ts';

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

/** Fastify's own serializer adds a charset, which media types such as `application/jwk-set+json` forbid. */
const asIs = (body: string): string => body;

/** Whether a client that sends this `If-None-Match` holds the document already (RFC 9110 section 13.1.2). */
function isHeld({ etag }: Finished, ifNoneMatch?: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const held = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return held.includes(etag) || held.includes('*');
}
