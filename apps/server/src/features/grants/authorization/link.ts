import type { Caller } from '../../../platform/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import { findAccount } from '../../accounts/developers/developers.queries.ts';
import { findRequest } from './authorization.repo.ts';
import { statusAt } from './authorization.rules.ts';
import type { FreshLink } from './authorization.schema.ts';
import { baseOfPages, linkOf } from './authorization.ts';
import { gone } from './decide.ts';
import type { AuthorizationDeps } from './deps.ts';
import { newTicket } from './in-flight.ts';

/**
 * Makes a link to the consent page. The developer has no other for a request of a device or of CIBA. The ticket of the link
 * before opens nothing from then on.
 * @throws NOT_FOUND, GONE
 */
export async function freshLink(deps: AuthorizationDeps, caller: Caller, id: string): Promise<FreshLink> {
  const request = await findRequest(deps.db, caller, id);
  if (!request) throw notFound();
  const now = deps.clock();
  const status = statusAt(request, now);
  if (status !== 'pending') throw gone(status);
  const seconds = Math.ceil((request.expiresAt.getTime() - now.getTime()) / 1000);
  const { ticket, entry } = newTicket({ ...caller.tenant, requestId: id }, seconds);
  await deps.store.put([entry]);
  const base = await baseOfPages(deps, caller, await findAccount(deps.db, caller.tenant));
  return {
    authRequestId: id,
    consentUrl: linkOf(base, id, ticket),
    expiresAt: request.expiresAt.toISOString(),
  };
}
