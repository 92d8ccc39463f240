import type { FastifyReply, FastifyRequest } from 'fastify';
import { SCIM_TYPE, scimErrorBody } from '../../../platform/http/answers/error-handler.ts';
import type { BulkResult } from './bulk.ts';
import { rates } from './tokens.routes.ts';
import type { ScimRequest, ShownResource } from './users.show.ts';
import { isKnown, isLookUp } from './users.show.ts';

/** The declarations of every route that an identity provider calls with its token. */
export const access = { access: 'scim', errors: 'scim', rate: rates.scim, takesSlash: true } as const;

/** A list is heavy, unless its filter finds one resource by name. */
export const isHeavy = ({ query, body }: FastifyRequest): boolean =>
  !isLookUp(Object(query).filter ?? Object(body).filter);

export const asScim = <Reply extends Pick<FastifyReply, 'type'>>(reply: Reply): Reply => {
  reply.type(SCIM_TYPE);
  return reply;
};

export function askedIn({ headers, query }: FastifyRequest): ScimRequest {
  return { query: Object(query), ifMatch: headers['if-match'] };
}

export function sendResource(
  reply: FastifyReply,
  { resource, location, tag }: ShownResource,
  status: 200 | 201 = 200,
) {
  asScim(reply).code(status).header('etag', tag);
  if (status === 201) reply.header('location', location);
  return reply.send(resource);
}

/** Leaves the body out when the client has this version (RFC 7644 §3.14). */
export function sendFound({ headers }: FastifyRequest, reply: FastifyReply, found: ShownResource) {
  if (!isKnown(found, headers['if-none-match'])) return sendResource(reply, found);
  return reply.code(304).header('etag', found.tag).send(null);
}

/** RFC 7644 §3.7.3. */
export const bulkResponse = (results: readonly BulkResult[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkResponse'],
  Operations: results.map(({ operation, status, seen, refusal }) => ({
    method: operation.method,
    ...(operation.bulkId !== undefined && { bulkId: operation.bulkId }),
    ...(seen && { location: seen.location, version: seen.tag }),
    status: String(status),
    ...(refusal && { response: scimErrorBody(refusal) }),
  })),
});
