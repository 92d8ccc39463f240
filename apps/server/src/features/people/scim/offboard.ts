import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import type { ListenersOf } from '../../../platform/hooks.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { deactivatePrincipals, lockPrincipals } from './principals.repo.ts';
import {
  type OnPrincipalClosed,
  type OnUserLeft,
  type PrincipalRights,
  principalClosed,
  principalRights,
  type Revocation,
  userLeft,
} from './scim.hooks.ts';
import { principalsOfUser } from './scim.repo.ts';

export interface OffboardDeps {
  readonly store: EphemeralStore;
  readonly onUserLeft: readonly OnUserLeft[];
  readonly onPrincipalClosed: readonly OnPrincipalClosed[];
  readonly rights: readonly PrincipalRights[];
}

/** The listeners that end what a user has in other features. */
export const offboardDeps = ({ listenersOf }: { readonly listenersOf: ListenersOf }) => ({
  onUserLeft: listenersOf(userLeft),
  onPrincipalClosed: listenersOf(principalClosed),
  rights: listenersOf(principalRights),
});

/** What ended for one person. The caller records the acts. */
export interface Offboarded {
  readonly acts: readonly Act[];
  readonly grantsRevoked: number;
  /** Every id of the user, former ones too. */
  readonly principalIds: readonly string[];
}

/** Takes the locks that come before those of principals in every write that takes both. */
export async function lockRights(
  tx: Tx,
  caller: Caller,
  { rights }: Pick<OffboardDeps, 'rights'>,
): Promise<void> {
  for (const { lockFirst } of rights) await lockFirst?.(tx, caller);
}

/**
 * Ends everything that agents hold of a user, in the transaction of the change. The ids are taken
 * first: a write that relies on one of them has either committed, and is seen here, or finds it inactive afterwards.
 * @returns acts, which the caller records
 */
export async function offboard(
  tx: Tx,
  caller: Caller,
  deps: OffboardDeps,
  userId: string,
  at: Date,
  howLong?: 'for good',
): Promise<Offboarded> {
  const { tenant } = caller;
  await lockRights(tx, caller, deps);
  const ids = await deactivatePrincipals(tx, tenant, userId);
  const revocation: Revocation = {
    reason: 'principal_offboarded',
    grants: 'all',
    endsSessions: true,
    isForGood: howLong !== undefined,
  };
  const principalIds = await principalsOfUser(
    tx,
    tenant,
    userId,
    await holdersOf(tx, caller, deps, ids, revocation),
  );
  const acts = await revokeRights(tx, caller, deps, principalIds, revocation, at);
  const grantsRevoked = countRevoked(acts);
  for (const listener of deps.onUserLeft) acts.push(...(await listener(tx, caller, userId, at)));
  const all = [...new Set([...ids, ...principalIds])].sort();
  const offboarded: Act = {
    type: 'principal.offboarded',
    data: { userId, principalIds: all, grantsRevoked },
  };
  return { acts: [...acts, offboarded], grantsRevoked, principalIds: all };
}

/** Ends grants and own sessions of a person who stays active. The caller holds `lockPeople`. */
export async function endForPerson(
  tx: Tx,
  caller: Caller,
  deps: OffboardDeps,
  userId: string,
  ending: Pick<Revocation, 'grants' | 'endsSessions'>,
  at: Date,
): Promise<Offboarded> {
  const { tenant } = caller;
  if (ending.grants !== 'none') await lockRights(tx, caller, deps);
  const revocation: Revocation = { ...ending, reason: 'idp_signal', isForGood: false };
  const ids = await lockPrincipals(tx, tenant, userId);
  const holders = await holdersOf(tx, caller, deps, ids, revocation);
  const principalIds = await principalsOfUser(tx, tenant, userId, [...ids, ...holders]);
  const acts = await revokeRights(tx, caller, deps, principalIds, revocation, at);
  return { acts, grantsRevoked: countRevoked(acts), principalIds };
}

/** The principals with rights that end among these ids, in any case. */
export async function holdersOf(
  tx: Tx,
  { tenant }: Caller,
  { rights }: OffboardDeps,
  ids: readonly string[],
  revocation: Revocation,
): Promise<string[]> {
  const holders: string[] = [];
  for (const { listHolders } of rights) holders.push(...(await listHolders(tx, tenant, ids, revocation)));
  return holders;
}

export async function revokeRights(
  tx: Tx,
  caller: Caller,
  { rights, store }: OffboardDeps,
  principalIds: readonly string[],
  revocation: Revocation,
  at: Date,
): Promise<Act[]> {
  const acts: Act[] = [];
  for (const { revoke } of rights)
    acts.push(...(await revoke(tx, caller, principalIds, { ...revocation, at, store })));
  return acts;
}

export const countRevoked = (acts: readonly Act[]) =>
  acts.filter(({ type }) => type === 'grant.revoked').length;
