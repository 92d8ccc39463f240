import type { FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';
import { sessionBills } from '../limits/bills.ts';
import type { CallerKind } from './credentials.ts';
import { browserRequestOf } from './page.ts';

/** An approver on the page `/approve`, by the cookie of their session. */
export const approver: CallerKind = {
  isOnOwnHost: true,
  async authenticate({ request, charge, limits, credentials }) {
    requireFetchMetadata(request);
    const caller = await credentials.approver(browserRequestOf(request));
    await charge(sessionBills(request, caller.actor, limits));
    return { kind: 'approver', caller };
  },
};

/** A cookie that decides about calls counts only where the browser says that the page is the service's own. */
function requireFetchMetadata({ headers, method }: FastifyRequest): void {
  const isRead = method === 'GET' || method === 'HEAD';
  if (headers['sec-fetch-site'] !== undefined && (isRead || headers.origin !== undefined)) return;
  throw new AppError('FORBIDDEN', 'Send `Sec-Fetch-Site` and `Origin`, as browsers do.');
}
