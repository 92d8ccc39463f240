import type { Act } from '../../../platform/acts.ts';
import type { Caller, PrincipalSession } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, mustNotBeMailed, notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { recordActs, recordEntry } from '../../record/audit/index.ts';
import { findSessionCaller } from '../principals/principals.queries.ts';
import type { PrincipalRights } from '../scim/index.ts';
import type { PasskeyDeps } from './ceremony.ts';
import {
  deletePasskeyRow,
  deletePasskeyRowsOf,
  listPasskeyRows,
  type PasskeyRow,
  principalsWithPasskeys,
  type RemovedPasskey,
  updatePasskey,
} from './passkeys.repo.ts';
import { authenticatorOf, principalOwner } from './passkeys.rules.ts';
import type {
  OwnPasskeyPage,
  OwnPasskeyQuery,
  Passkey,
  PasskeyChange,
  PasskeyPage,
  PasskeyQuery,
} from './passkeys.schema.ts';

export async function listPasskeys(
  { db }: PasskeyDeps,
  { tenant }: Caller,
  query: PasskeyQuery,
): Promise<PasskeyPage> {
  const rows = await listPasskeyRows(db, tenant, principalOwner(query.principalId), query);
  const { page, nextCursor } = pageOf(rows, byId, toPasskey);
  return { credentials: page, nextCursor };
}

/** Renames a passkey, or clears a suspicion. @throws NOT_FOUND */
export function changePasskey(
  { db, clock }: PasskeyDeps,
  caller: Caller,
  id: string,
  change: PasskeyChange,
): Promise<Passkey> {
  return inTransaction(db, async (tx) => {
    const row = await updatePasskey(tx, caller.tenant, { ownerKind: 'principal', id }, change);
    if (!row) throw notFound();
    const data = { credentialId: id, changed: Object.keys(change) };
    await recordEntry(tx, caller, { action: 'fido.updated', data }, clock());
    return toPasskey(row);
  });
}

/** @throws NOT_FOUND */
export function removePasskey({ db, clock }: PasskeyDeps, caller: Caller, id: string): Promise<void> {
  return inTransaction(db, async (tx) => {
    const row = await deletePasskeyRow(tx, caller.tenant, { ownerKind: 'principal' }, id);
    if (!row) throw notFound();
    await recordActs(tx, caller, [removed(row, 'api')], clock());
  });
}

/** @throws UNAUTHORIZED when the session has ended */
export async function listOwnPasskeys(
  deps: PasskeyDeps,
  session: PrincipalSession,
  query: OwnPasskeyQuery,
): Promise<OwnPasskeyPage> {
  const { tenant } = await callerIn(deps, session);
  const rows = await listPasskeyRows(deps.db, tenant, principalOwner(session.principalId), query);
  const { page, nextCursor } = pageOf(rows, byId, toPasskey);
  return { passkeys: page, nextCursor };
}

/**
 * @throws UNAUTHORIZED when the session has ended, NOT_FOUND for a passkey of another principal,
 * PRINCIPAL_VERIFICATION_REQUIRED in a session of a mailed link
 */
export async function removeOwnPasskey(
  deps: PasskeyDeps,
  session: PrincipalSession,
  id: string,
): Promise<void> {
  const caller = await callerIn(deps, session);
  mustNotBeMailed(session);
  await inTransaction(deps.db, async (tx) => {
    const row = await deletePasskeyRow(tx, caller.tenant, principalOwner(session.principalId), id);
    if (!row) throw notFound();
    await recordActs(tx, caller, [removed(row, 'principal')], deps.clock());
  });
}

/** @throws UNAUTHORIZED when the session has ended */
async function callerIn({ db, clock }: PasskeyDeps, session: PrincipalSession): Promise<Caller> {
  const caller = await findSessionCaller(db, session, clock());
  if (!caller) throw new AppError('UNAUTHORIZED', 'The session has ended.');
  return caller;
}

/** The passkeys of a user, which go when the user is deleted. */
export const passkeyRights: PrincipalRights = {
  listHolders: async (db, tenant, ids, { isForGood }) =>
    isForGood ? principalsWithPasskeys(db, tenant, ids) : [],
  async revoke(tx, { tenant }, principalIds, { isForGood }) {
    const acts: Act[] = [];
    for (const principalId of isForGood ? principalIds : []) {
      const rows = await deletePasskeyRowsOf(tx, tenant, principalOwner(principalId), { isForGood });
      acts.push(...rows.map((row) => removed(row, 'principal_offboarded')));
    }
    return acts;
  },
};

const removed = (row: RemovedPasskey, reason: 'api' | 'principal' | 'principal_offboarded'): Act => ({
  type: 'fido.removed',
  principalId: row.ownerId,
  data: { ...authenticatorOf(row), reason },
});

function toPasskey(row: PasskeyRow): Passkey {
  const { id, ownerId: principalId, deviceName, backedUp, transports, status } = row;
  return {
    id,
    principalId,
    deviceName,
    backedUp,
    deviceType: row.isMultiDevice ? 'multiDevice' : 'singleDevice',
    transports,
    status,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}
