import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { leaveGroups } from './groups.repo.ts';
import { lockRights, type OffboardDeps, type Offboarded, offboard } from './offboard.ts';
import { setActive } from './users.ts';

const NOTHING: Offboarded = { acts: [], grantsRevoked: 0, principalIds: [] };

/**
 * Makes a person inactive because the identity provider of a connection says so, and ends everything of theirs. The
 * caller holds `lockPeople`.
 * @param howLong `for good`: credentials and memberships go too
 */
export async function disablePerson(
  tx: Tx,
  caller: Caller,
  deps: OffboardDeps,
  { userId, connectionId, howLong }: { userId: string; connectionId: string; howLong?: 'for good' },
  at: Date,
): Promise<Offboarded> {
  await lockRights(tx, caller, deps);
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
 * Makes a person active whom a signal of the same connection made inactive, unless a client has written the person since.
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
