import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { leaveGroups } from './groups.repo.ts';
import {
  countRevoked,
  holdersOf,
  lockRights,
  type OffboardDeps,
  type Offboarded,
  offboard,
  revokeRights,
} from './offboard.ts';
import { closePerson, idsOfUser, openPerson, type PrincipalValue } from './principals.repo.ts';
import type { Revocation } from './scim.hooks.ts';
import { addressOfUser, personByAddress, userOfPrincipal, usersOfPrincipals } from './scim.queries.ts';
import { lockPeople } from './scim.repo.ts';
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

/** An offboarding by the developer. */
interface EndingOfPerson {
  readonly at: Date;
  /** Credentials go too, and every id of the person is closed. */
  readonly isForGood: boolean;
  /** The ids that single sign-on would give to a user of the directory. */
  readonly namesBySignOn: (tx: Tx, userId: string) => Promise<readonly string[]>;
}

/** What ended of a person. The caller records the acts; there are none when there was nothing. */
interface EndedPerson {
  /** The id by which they were offboarded first. */
  readonly subjectId: string;
  readonly ids: readonly PrincipalValue[];
  /** Those ids, and the same in another case where something was of them. */
  readonly principalIds: readonly string[];
  readonly acts: readonly Act[];
}

/**
 * Ends what agents hold of the person whom a principal id names, under every id that the directory or single sign-on has for
 * them. A request that was approved before ends with it. For good, all the ids are closed first: whoever gives one of them
 * something at the same time has committed, and is seen here, or is refused, until the person is admitted again. Their user
 * is inactive until then.
 */
export async function offboardPrincipal(
  tx: Tx,
  caller: Caller,
  deps: OffboardDeps,
  principalId: string,
  { at, isForGood, namesBySignOn }: EndingOfPerson,
): Promise<EndedPerson> {
  const { tenant } = caller;
  await lockPeople(tx, tenant); // so that nobody gets or loses an id
  await lockRights(tx, caller, deps);
  const revocation: Revocation = {
    reason: 'principal_offboarded',
    grants: 'all',
    endsSessions: true,
    isForGood,
  };
  const userId = await userOfPrincipal(tx, tenant, principalId);
  const own = userId === undefined ? [] : await idsOf(tx, caller, userId, namesBySignOn);
  const named = [{ id: principalId, isFolded: false }, ...own];
  const { subjectId, wasOpen, ids } = isForGood
    ? await closePerson(tx, tenant, principalId, named, at)
    : { subjectId: principalId, wasOpen: false, ids: named };
  const holders = await holdersInAnyCase(tx, caller, deps, { ids, userId, revocation });
  const principalIds = [...new Set([...ids.map(({ id }) => id), ...holders])].sort();

  const left = isForGood && userId !== undefined ? await leave(tx, caller, deps, userId, at) : [];
  const acts = [...left, ...(await revokeRights(tx, caller, deps, principalIds, revocation, at))];
  for (const listener of isForGood ? deps.onPrincipalClosed : []) {
    acts.push(...(await listener(tx, caller, principalIds, at)));
  }
  const ended = { subjectId, ids, principalIds };
  if (acts.length === 0 && !wasOpen) return { ...ended, acts };
  const data = { ...(userId !== undefined && { userId }), principalIds, grantsRevoked: countRevoked(acts) };
  return { ...ended, acts: [...acts, { type: 'principal.offboarded', principalId, data }] };
}

/** The ids of a user, and the address by which a provider would have them added anew. */
async function idsOf(
  tx: Tx,
  { tenant }: Caller,
  userId: string,
  namesBySignOn: EndingOfPerson['namesBySignOn'],
): Promise<PrincipalValue[]> {
  const ids = await idsOfUser(tx, tenant, userId);
  const names = (await namesBySignOn(tx, userId)).map((id) => ({ id, isFolded: false }));
  const address = await addressOfUser(tx, tenant, userId);
  if (address === undefined || (await userOfPrincipal(tx, tenant, address)) !== undefined)
    return [...ids, ...names];
  const isOwn = (await personByAddress(tx, tenant, address))?.userId === userId;
  return [...ids, ...names, ...(isOwn ? [{ id: address.toLowerCase(), isFolded: true }] : [])];
}

interface Sought {
  readonly ids: readonly PrincipalValue[];
  readonly userId: string | undefined;
  readonly revocation: Revocation;
}

/** Those who hold something by an id that counts in any case, and who are no other user. */
async function holdersInAnyCase(
  tx: Tx,
  caller: Caller,
  deps: OffboardDeps,
  { ids, userId, revocation }: Sought,
): Promise<string[]> {
  const folded = ids.filter(({ isFolded }) => isFolded).map(({ id }) => id);
  if (folded.length === 0) return [];
  const holders = await holdersOf(tx, caller, deps, folded, revocation);
  const users = await usersOfPrincipals(tx, caller.tenant, holders);
  return holders.filter((id) => (users.get(id) ?? userId) === userId);
}

/** Who made a user inactive, in the place of a connection. */
const OFFBOARDING = 'offboarding';

async function leave(
  tx: Tx,
  caller: Caller,
  { onUserLeft }: Pick<OffboardDeps, 'onUserLeft'>,
  userId: string,
  at: Date,
): Promise<Act[]> {
  const change = { active: false, disabledBy: OFFBOARDING };
  const changed = await setActive(tx, caller, userId, change, at);
  const acts: Act[] = changed ? [{ type: 'scim.user.deactivated', data: changed }] : [];
  for (const listener of onUserLeft) acts.push(...(await listener(tx, caller, userId, at)));
  return acts;
}

/**
 * Lets a person be given something again, under every id. What has ended does not come back. Their user is active again, unless
 * the directory has written the user since, or had made them inactive before.
 * @returns acts; none for one who was not closed
 */
export async function admitPrincipal(
  tx: Tx,
  caller: Caller,
  principalId: string,
  at: Date,
): Promise<readonly Act[]> {
  const { tenant } = caller;
  await lockPeople(tx, tenant);
  const principalIds = await openPerson(tx, tenant, principalId, at);
  if (principalIds.length === 0) return [];
  const userId = await userOfPrincipal(tx, tenant, principalId);
  const back =
    userId === undefined ? [] : await enablePerson(tx, caller, { userId, connectionId: OFFBOARDING }, at);
  return [...back, { type: 'principal.admitted', principalId, data: { principalIds } }];
}
