import { createHmac, type KeyObject } from 'node:crypto';
import type { Act } from '../../../platform/acts.ts';
import type { Caller, PrincipalSession } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { notFound } from '../../../platform/errors.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { findSessionCaller } from './principals.queries.ts';
import { deleteAddressesOf, findOwnAddress, lockAddress, putAddress } from './principals.repo.ts';
import type { OwnAddress } from './principals.schema.ts';
import { endSessionsOfPrincipals, type PrincipalDeps, sessionEnded } from './session.ts';

export const ADDRESS_KEY_USE = 'behest/principal-address/v1';
/** An address may get another owner, so a proof of it counts for so long. */
export const PROOF_MS = 180 * 86_400_000;

type Deps = Pick<PrincipalDeps, 'db' | 'clock'>;

/** Of an address the service keeps what it can be recognised by, and not the address. The newest key comes first. */
export function hashesOf(
  { keyRing }: { readonly keyRing: KeyRing },
  email: string,
): readonly [Buffer, ...Buffer[]] {
  const { current, previous } = keyRing.derive(ADDRESS_KEY_USE);
  const under = (key: KeyObject) => createHmac('sha256', key).update(email.toLowerCase()).digest();
  return [under(current), ...previous.map(under)];
}

/** The decision for which a person read a code at an address. */
export interface AddressProof {
  readonly principalId: string;
  readonly email: string;
  readonly about: { readonly authRequestId: string } | { readonly connectSessionId: string };
}

/**
 * Remembers the address of a person who has read a mail there, and for whom the developer vouches with it. It takes the
 * place of the one before.
 */
export async function rememberAddress(
  deps: Deps & { readonly keyRing: KeyRing },
  caller: Caller,
  { principalId, email, about }: AddressProof,
): Promise<void> {
  const at = deps.clock();
  const { tenant } = caller;
  const hashes = hashesOf(deps, email);
  await inTransaction(deps.db, async (tx) => {
    if (!(await holdPrincipal(tx, tenant, principalId))) return;
    const before = await lockAddress(tx, tenant, principalId);
    await putAddress(tx, tenant, { principalId, addressHash: hashes[0], provedAt: at });
    const isSame = before && hashes.some((each) => each.equals(before.addressHash));
    const change = before ? (isSame ? 'renewed' : 'replaced') : 'added';
    await recordActs(
      tx,
      caller,
      [{ type: 'principal.address_proved', principalId, data: { ...about, change } }],
      at,
    );
  });
}

/** @throws UNAUTHORIZED when the session has ended */
export async function showOwnAddress(deps: Deps, session: PrincipalSession): Promise<OwnAddress> {
  const now = deps.clock();
  const found = await findOwnAddress(deps.db, session, now);
  if (!found) throw sessionEnded();
  const { provedAt } = found;
  const until = provedAt && new Date(provedAt.getTime() + PROOF_MS);
  if (!provedAt || !until || until <= now) return { address: null };
  return { address: { provedAt: provedAt.toISOString(), usableUntil: until.toISOString() } };
}

/** @throws UNAUTHORIZED when the session has ended, NOT_FOUND without an address */
export async function removeOwnAddress(deps: Deps, session: PrincipalSession): Promise<void> {
  const at = deps.clock();
  await inTransaction(deps.db, async (tx) => {
    const caller = await findSessionCaller(tx, session, at);
    if (!caller) throw sessionEnded();
    const { principalId, sessionId } = session;
    const acts = await withdraw(tx, caller, { principalId, reason: 'principal', kept: sessionId, at });
    await recordActs(tx, caller, acts, at);
  });
}

/** @throws NOT_FOUND for a person without an address */
export async function removeAddress(deps: Deps, caller: Caller, principalId: string): Promise<void> {
  const at = deps.clock();
  await inTransaction(deps.db, async (tx) => {
    await recordActs(tx, caller, await withdraw(tx, caller, { principalId, reason: 'api', at }), at);
  });
}

interface Withdrawal {
  readonly principalId: string;
  readonly reason: 'api' | 'principal';
  /** The session that goes on. */
  readonly kept?: string;
  readonly at: Date;
}

/**
 * Whoever reads the mailbox may have a session, so all others end. Mailed links stop to work, because they ask for the
 * address. @throws NOT_FOUND
 */
async function withdraw(
  tx: Tx,
  { tenant }: Caller,
  { principalId, reason, kept, at }: Withdrawal,
): Promise<Act[]> {
  const removed = await deleteAddressesOf(tx, tenant, [principalId]);
  if (removed.length === 0) throw notFound();
  const ended = await endSessionsOfPrincipals(tx, tenant, [principalId], {
    ...{ reason: 'address_removed', at, kept },
  });
  return [...ended, ...removed.map((id) => addressRemoved(id, reason))];
}

export const addressRemoved = (
  principalId: string,
  reason: 'api' | 'principal' | 'principal_offboarded',
): Act => ({ type: 'principal.address_removed', principalId, data: { reason } });
