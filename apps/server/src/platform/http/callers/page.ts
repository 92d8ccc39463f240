import type { FastifyRequest } from 'fastify';
import type { BrowserRequest } from '../../caller.ts';
import { resourceBills, resourceIdOf } from '../limits/bills.ts';
import { type CallerKind, cookiesIn } from './credentials.ts';

/** A person on a page of the service, by the cookie of the record that the path names. */
export const page = (access: 'consent' | 'connect'): CallerKind => ({
  async authenticate({ request, charge, limits, credentials }) {
    const caller = await credentials[access](browserRequestOf(request));
    await charge(resourceBills(request, limits));
    return { kind: 'page', caller };
  },
});

export function browserRequestOf(request: FastifyRequest): BrowserRequest {
  const { headers, method, ip, id: requestId } = request;
  return {
    resourceId: resourceIdOf(request) ?? '',
    cookies: cookiesIn(headers),
    csrfToken: headers['x-csrf-token']?.toString(),
    origin: headers.origin,
    fetchSite: headers['sec-fetch-site']?.toString(),
    contentType: headers['content-type'],
    isWrite: method !== 'GET' && method !== 'HEAD',
    isBackground: request.declared.isLive === true || headers['behest-background'] === '1',
    hasAuthorization: headers.authorization !== undefined,
    requestId,
    ip,
    userAgent: headers['user-agent'],
  };
}
