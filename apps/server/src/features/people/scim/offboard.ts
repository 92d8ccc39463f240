import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { principalsWithRequests } from '../../grants/authorization/authorization.queries.ts';
import { cancelRequests, freeRequests } from '../../grants/authorization/index.ts';
import { principalsWithGrants } from '../../grants/grants/grants.queries.ts';
import { countEnded, holdDelegations, revokeGrantsOfPrincipal } from '../../grants/grants/index.ts';
import { principalsWithCredentials } from '../../vault/credentials/credentials.queries.ts';
import { deleteCredentialsOfPrincipal } from '../../vault/credentials/index.ts';
import { deletePasskeysOfPrincipal } from '../passkeys/index.ts';
import { principalsWithPasskeys } from '../passkeys/passkeys.queries.ts';
import { endSessionsOfPrincipals } from '../principals/index.ts';
import { principalsWithSessions } from '../principals/principals.queries.ts';
import { deactivatePrincipals } from './principals.repo.ts';
import type { OnUserLeft } from './scim.hooks.ts';
import { principalsOfUser } from './scim.repo.ts';

export interface Offboarded {
  readonly acts: readonly Act[];
  readonly grantsRevoked: number;
  /** Every id of the user, former ones too. */
  readonly principalIds: readonly string[];
}

const REASON = { reason: 'principal_offboarded' } as const;

/**
 * Ends everything that agents hold of a user, in the transaction of the change. The ids are taken
 * first: a write that relies on one of them has either committed, and is seen here, or finds it inactive afterwards.
 * @returns acts, which the caller records
 */
export async function offboard(
  tx: Tx,
  caller: Caller,
  { store, onUserLeft }: { readonly store: EphemeralStore; readonly onUserLeft: readonly OnUserLeft[] },
  userId: string,
  at: Date,
  howLong?: 'for good',
): Promise<Offboarded> {
  const { tenant } = caller;
  await holdDelegations(tx, caller); // comes before principals in every write that takes both
  const ids = await deactivatePrincipals(tx, tenant, userId);
  const named = [
    ...(await principalsWithRequests(tx, tenant, ids)),
    ...(await principalsWithGrants(tx, tenant, ids)),
    ...(await principalsWithSessions(tx, tenant, ids)),
    ...(howLong ? await principalsWithCredentials(tx, tenant, ids) : []),
    ...(howLong ? await principalsWithPasskeys(tx, tenant, ids) : []),
  ];
  const principalIds = await principalsOfUser(tx, tenant, userId, named);

  const acts: Act[] = [];
  const requestIds: string[] = [];
  let grantsRevoked = 0;
  for (const principalId of principalIds) {
    const cancelled = await cancelRequests(tx, caller, { principalId }, at);
    acts.push(...cancelled.acts);
    requestIds.push(...cancelled.requestIds);
  }
  for (const principalId of principalIds) {
    const ended = await revokeGrantsOfPrincipal(tx, caller, principalId, REASON, at);
    acts.push(...ended.acts);
    grantsRevoked += countEnded(ended.acts);
  }
  await freeRequests(tx, caller, { requestIds, store });
  acts.push(...(await endSessionsOfPrincipals(tx, tenant, principalIds, { reason: 'offboarded', at })));
  for (const listener of onUserLeft) acts.push(...(await listener(tx, caller, userId, at)));
  if (howLong) {
    for (const principalId of principalIds) {
      acts.push(...(await deleteCredentialsOfPrincipal(tx, caller, principalId)));
      acts.push(...(await deletePasskeysOfPrincipal(tx, caller, principalId)));
    }
  }
  const all = [...new Set([...ids, ...principalIds])].sort();
  const offboarded: Act = {
    type: 'principal.offboarded',
    data: { userId, principalIds: all, grantsRevoked },
  };
  return { acts: [...acts, offboarded], grantsRevoked, principalIds: all };
}
