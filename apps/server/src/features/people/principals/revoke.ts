import type { Act } from '../../../platform/acts.ts';
import type { PrincipalSession } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { principalsWithRequests } from '../../grants/authorization/authorization.queries.ts';
import { cancelRequests, freeRequests } from '../../grants/authorization/index.ts';
import { principalsWithGrants } from '../../grants/grants/grants.queries.ts';
import { holdDelegations, revokeGrantsOfPrincipal, revokeGrantWithin } from '../../grants/grants/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { principalsWithCredentials } from '../../vault/credentials/credentials.queries.ts';
import { deleteCredentialsOfPrincipal } from '../../vault/credentials/index.ts';
import type { PrincipalRights } from '../scim/index.ts';
import { addressRemoved } from './addresses.ts';
import { callerOfSession, principalsWithAddresses, principalsWithSessions } from './principals.queries.ts';
import { deleteAddressesOf, findSession } from './principals.repo.ts';
import { endSessionsOfPrincipals, type PrincipalDeps, sessionEnded } from './session.ts';

/**
 * Ends a grant and what its agent still asks of this principal, because a code that was approved before would give the
 * agent a new grant. Requests end first: an exchange that has come before them has made its grant by then.
 * @throws UNAUTHORIZED when the session has ended, NOT_FOUND for a grant of another principal
 */
export async function revokeOwnGrant(
  deps: PrincipalDeps,
  session: PrincipalSession,
  grantId: string,
): Promise<void> {
  const at = deps.clock();
  const found = await findSession(deps.db, session, at, grantId);
  if (!found) throw sessionEnded();
  const { agentId } = found;
  if (agentId === null) throw notFound();
  const caller = callerOfSession(session, found);
  const { principalId } = session;
  await inTransaction(deps.db, async (tx) => {
    await holdDelegations(tx, caller); // before requests, as in an exchange that replaces a grant
    const { acts: cancelled, requestIds } = await cancelRequests(tx, caller, { agentId, principalId }, at);
    const revoked = await revokeGrantWithin(tx, caller, grantId, { reason: 'principal' }, at);
    await freeRequests(tx, caller, { requestIds, store: deps.store });
    const acts = [...cancelled, ...revoked];
    if (acts.length > 0) await recordActs(tx, caller, acts, at);
  });
}

/**
 * Ends every active grant and every open request of the principal, or on failure nothing.
 * @throws UNAUTHORIZED when the session has ended
 */
export async function revokeOwnGrants(
  deps: PrincipalDeps,
  session: PrincipalSession,
): Promise<{ revoked: number; cancelled: number }> {
  const at = deps.clock();
  const found = await findSession(deps.db, session, at);
  if (!found) throw sessionEnded();
  const caller = callerOfSession(session, found);
  const { principalId } = session;
  return inTransaction(deps.db, async (tx) => {
    await holdDelegations(tx, caller); // as above
    const { acts: cancelled, requestIds } = await cancelRequests(tx, caller, { principalId }, at);
    const { acts, revoked } = await revokeGrantsOfPrincipal(
      tx,
      caller,
      principalId,
      { reason: 'principal' },
      at,
    );
    await freeRequests(tx, caller, { requestIds, store: deps.store });
    const all = [...cancelled, ...acts];
    if (all.length > 0) await recordActs(tx, caller, all, at);
    return { revoked, cancelled: cancelled.length };
  });
}

/**
 * What agents hold of a user: requests, grants, the user's own sessions and, when the user is deleted,
 * credentials and the proved address.
 * Requests end before grants, and give their places back after them.
 */
export const rightsOfPrincipals: PrincipalRights = {
  lockFirst: holdDelegations,
  listHolders: async (db, tenant, ids, { reason, isForGood }) => [
    ...(reason === 'principal_offboarded' ? await principalsWithRequests(db, tenant, ids) : []),
    ...(await principalsWithGrants(db, tenant, ids)),
    ...(await principalsWithSessions(db, tenant, ids)),
    ...(isForGood ? await principalsWithCredentials(db, tenant, ids) : []),
    ...(isForGood ? await principalsWithAddresses(db, tenant, ids) : []),
  ],
  async revoke(tx, caller, principalIds, { reason, grants, endsSessions, isForGood, at, store }) {
    const acts: Act[] = [];
    const requestIds: string[] = [];
    for (const principalId of grants === 'all' ? principalIds : []) {
      const cancelled = await cancelRequests(tx, caller, { principalId }, at);
      acts.push(...cancelled.acts);
      requestIds.push(...cancelled.requestIds);
    }
    for (const principalId of grants === 'none' ? [] : principalIds) {
      const revoking = { reason, ...(grants === 'sso' && { givenBy: 'sso' as const }) };
      acts.push(...(await revokeGrantsOfPrincipal(tx, caller, principalId, revoking, at)).acts);
    }
    await freeRequests(tx, caller, { requestIds, store });
    if (endsSessions) {
      const why = reason === 'idp_signal' ? 'signal' : 'offboarded';
      acts.push(...(await endSessionsOfPrincipals(tx, caller.tenant, principalIds, { reason: why, at })));
    }
    for (const principalId of isForGood ? await deleteAddressesOf(tx, caller.tenant, principalIds) : []) {
      acts.push(addressRemoved(principalId, 'principal_offboarded'));
    }
    for (const principalId of isForGood ? principalIds : []) {
      acts.push(...(await deleteCredentialsOfPrincipal(tx, caller, principalId, at)));
    }
    return acts;
  },
};
