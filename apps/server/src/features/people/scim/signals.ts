import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { cancelRequests, freeRequests } from '../../grants/authorization/index.ts';
import { principalsWithGrants } from '../../grants/grants/grants.queries.ts';
import { countEnded, holdDelegations, revokeGrantsOfPrincipal } from '../../grants/grants/index.ts';
import { endSessionsOfPrincipals } from '../principals/index.ts';
import { principalsWithSessions } from '../principals/principals.queries.ts';
import { leaveGroups } from './groups.repo.ts';
import { offboard } from './offboard.ts';
import { lockPrincipals } from './principals.repo.ts';
import type { OnUserLeft } from './scim.hooks.ts';
import { principalsOfUser } from './scim.repo.ts';
import { setActive } from './users.ts';

/** The outcome of a signal for one person. The caller records the acts. */
export interface Ended {
  readonly acts: readonly Act[];
  readonly grantsRevoked: number;
  readonly principalIds: readonly string[];
}

interface Deps {
  readonly store: EphemeralStore;
  readonly onUserLeft: readonly OnUserLeft[];
}

const NOTHING: Ended = { acts: [], grantsRevoked: 0, principalIds: [] };

/**
 * Makes a person inactive because the identity provider of a connection says so, and ends everything of theirs. The
 * caller holds `lockPeople`.
 * @param howLong `for good`: credentials and memberships go too
 */
export async function disablePerson(
  tx: Tx,
  caller: Caller,
  deps: Deps,
  { userId, connectionId, howLong }: { userId: string; connectionId: string; howLong?: 'for good' },
  at: Date,
): Promise<Ended> {
  await holdDelegations(tx, caller); // before the principals, as in every write that takes both
  const changed = await setActive(tx, caller, userId, { active: false, disabledBy: connectionId }, at);
  if (!changed && !howLong) return NOTHING;
  const { acts, grantsRevoked, principalIds } = await offboard(tx, caller, deps, userId, at, howLong);
  if (howLong) await leaveGroups(tx, caller.tenant, userId, at);
  const deactivated: Act[] = changed
    ? [{ type: 'scim.user.deactivated', data: { ...changed, grantsRevoked } }]
    : [];
  return { acts: [...acts, ...deactivated], grantsRevoked, principalIds };
}

/**
 * Makes a person active whom a signal of the same connection made inactive, unless anybody has written the person since.
 * Grants do not come back. The caller holds `lockPeople`.
 */
export async function enablePerson(
  tx: Tx,
  caller: Caller,
  { userId, connectionId }: { userId: string; connectionId: string },
  at: Date,
): Promise<readonly Act[]> {
  const change = { active: true, disabledBy: connectionId };
  const changed = await setActive(tx, caller, userId, change, at);
  return changed ? [{ type: 'scim.user.reactivated', data: changed }] : [];
}

interface Ending {
  /** The grants that end: those approved by single sign-on, or every one. */
  readonly grants: 'none' | 'sso' | 'all';
  /** Whether the person's own sessions began by single sign-on, and so end with it. */
  readonly endsSessions: boolean;
}

/** Ends grants and own sessions of a person who stays active. The caller holds `lockPeople`. */
export async function endForPerson(
  tx: Tx,
  caller: Caller,
  { store }: Pick<Deps, 'store'>,
  userId: string,
  { grants, endsSessions }: Ending,
  at: Date,
): Promise<Ended> {
  const { tenant } = caller;
  if (grants !== 'none') await holdDelegations(tx, caller);
  const ids = await lockPrincipals(tx, tenant, userId);
  const named = [
    ...(await principalsWithGrants(tx, tenant, ids)),
    ...(await principalsWithSessions(tx, tenant, ids)),
  ];
  const principalIds = await principalsOfUser(tx, tenant, userId, [...ids, ...named]);
  const acts: Act[] = [];
  const requestIds: string[] = [];
  let grantsRevoked = 0;
  for (const principalId of grants === 'all' ? principalIds : []) {
    const cancelled = await cancelRequests(tx, caller, { principalId }, at);
    acts.push(...cancelled.acts);
    requestIds.push(...cancelled.requestIds);
  }
  for (const principalId of grants === 'none' ? [] : principalIds) {
    const revoking = { reason: 'idp_signal', givenBy: grants === 'sso' ? 'sso' : undefined } as const;
    const ended = await revokeGrantsOfPrincipal(tx, caller, principalId, revoking, at);
    acts.push(...ended.acts);
    grantsRevoked += countEnded(ended.acts);
  }
  await freeRequests(tx, caller, { requestIds, store });
  if (endsSessions)
    acts.push(...(await endSessionsOfPrincipals(tx, tenant, principalIds, { reason: 'signal', at })));
  return { acts, grantsRevoked, principalIds };
}
