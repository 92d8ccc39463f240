import { randomBytes } from 'node:crypto';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { type ErasePerson, eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type { Passkeys } from '../../../platform/db/types.gen.ts';
import { principalsIn } from '../../../platform/db/values.ts';
import { requestsOfPrincipal } from '../../grants/authorization/authorization.queries.ts';
import type { PasskeyOwner } from './passkeys.rules.ts';

export type PasskeyRow = Selectable<Passkeys>;

/** Locks the owner until the commit. @returns the user handle, which is made the first time */
export async function lockUser(
  tx: Tx,
  { developerId }: Tenant,
  { ownerKind, ownerId }: PasskeyOwner,
): Promise<Buffer> {
  const { userHandle } = await tx
    .insertInto('passkeyUsers')
    .values({ developerId, ownerKind, ownerId, userHandle: randomBytes(32) })
    .onConflict((there) =>
      there.columns(['developerId', 'ownerKind', 'ownerId']).doUpdateSet(({ ref }) => ({
        userHandle: ref('passkeyUsers.userHandle'),
      })),
    )
    .returning('userHandle')
    .executeTakeFirstOrThrow();
  return userHandle;
}

/** @returns undefined for a credential that is registered already */
export function insertPasskey(
  tx: Tx,
  { developerId }: Tenant,
  passkey: Omit<Insertable<Passkeys>, 'developerId'>,
): Promise<PasskeyRow | undefined> {
  return tx
    .insertInto('passkeys')
    .values({ ...passkey, developerId })
    .onConflict((there) => there.columns(['developerId', 'credentialId', 'ownerKind']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

const passkeysOf = (db: Executor, { developerId }: Tenant, { ownerKind, ownerId }: PasskeyOwner) =>
  db
    .selectFrom('passkeys')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('ownerKind', '=', ownerKind)
    .where('ownerId', '=', ownerId);

/** The newest first. @param status only passkeys of this status */
export function listPasskeysOf(
  db: Executor,
  tenant: Tenant,
  owner: PasskeyOwner,
  status?: 'active',
): Promise<PasskeyRow[]> {
  const all = passkeysOf(db, tenant, owner);
  const some = status ? all.where('status', '=', status) : all;
  return some.orderBy('id', 'desc').limit(100).execute();
}

interface Page {
  readonly cursor?: string;
  readonly limit: number;
}

export function listPasskeyRows(db: Executor, tenant: Tenant, owner: PasskeyOwner, { cursor, limit }: Page) {
  const all = passkeysOf(db, tenant, owner);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

/** @param status the status that it has to have */
export function findByCredential(
  db: Executor,
  tenant: Tenant,
  owner: PasskeyOwner,
  credentialId: Buffer,
  status?: 'active',
): Promise<PasskeyRow | undefined> {
  const all = passkeysOf(db, tenant, owner).where('credentialId', '=', credentialId);
  return (status ? all.where('status', '=', status) : all).executeTakeFirst();
}

interface Discovered {
  readonly ownerKind: PasskeyOwner['ownerKind'];
  readonly credentialId: Buffer;
  readonly userHandle: Buffer;
}

const discovered = (db: Executor, { ownerKind, credentialId, userHandle }: Discovered) =>
  db
    .selectFrom('passkeys as passkey')
    .innerJoin('passkeyUsers as user', (join) =>
      join
        .onRef('user.developerId', '=', 'passkey.developerId')
        .onRef('user.ownerKind', '=', 'passkey.ownerKind')
        .onRef('user.ownerId', '=', 'passkey.ownerId'),
    )
    .selectAll('passkey')
    .where('passkey.ownerKind', '=', ownerKind)
    .where('passkey.credentialId', '=', credentialId)
    .where('user.userHandle', '=', userHandle);

/** The passkey that an authenticator offers without a name, under the handle of its owner. */
export const findDiscovered = (db: Executor, { developerId }: Tenant, found: Discovered) =>
  discovered(db, found)
    .where('passkey.developerId', '=', developerId)
    .where('user.developerId', '=', developerId)
    .executeTakeFirst();

/** As `findDiscovered`, on a page of the service that is the same for all accounts. */
export function findDiscoveredAcrossTenants(
  db: Executor,
  found: Discovered,
): Promise<PasskeyRow | undefined> {
  return discovered(db, found).executeTakeFirst();
}

/** @param status the status that it has to have */
export function updatePasskey(
  tx: Tx,
  { developerId }: Tenant,
  { ownerKind, id }: Pick<PasskeyRow, 'ownerKind' | 'id'>,
  change: { readonly deviceName?: string; readonly status?: 'active' | 'suspect' },
  status?: 'active',
): Promise<PasskeyRow | undefined> {
  const its = tx
    .updateTable('passkeys')
    .set(change)
    .where('developerId', '=', developerId)
    .where('ownerKind', '=', ownerKind)
    .where('id', '=', id);
  const such = status ? its.where('status', '=', status) : its;
  return such.returningAll().executeTakeFirst();
}

/**
 * Moves the counter on, so that of a passkey and its copy one is found out. An authenticator without a counter says 0
 * each time.
 * @returns whether the counter is greater than before, or there is none
 */
export async function advanceCounter(
  tx: Tx,
  { developerId, id }: PasskeyRow,
  { counter, backedUp }: { readonly counter: number; readonly backedUp: boolean },
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('passkeys')
    .set({ counter: String(counter), backedUp, lastUsedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('status', '=', 'active')
    .where((where) =>
      where.or([
        where('counter', '<', String(counter)),
        ...(counter === 0 ? [where('counter', '=', '0')] : []),
      ]),
    )
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export type RemovedPasskey = Pick<PasskeyRow, 'id' | 'ownerId' | 'transports' | 'aaguid'>;

/** @param owner with an id where it has to be the passkey of this person */
export function deletePasskeyRow(
  tx: Tx,
  { developerId }: Tenant,
  { ownerKind, ownerId }: Pick<PasskeyOwner, 'ownerKind'> & Partial<PasskeyOwner>,
  id: string,
): Promise<RemovedPasskey | undefined> {
  const its = tx
    .deleteFrom('passkeys')
    .where('developerId', '=', developerId)
    .where('ownerKind', '=', ownerKind)
    .where('id', '=', id);
  const own = ownerId === undefined ? its : its.where('ownerId', '=', ownerId);
  return own.returning(['id', 'ownerId', 'transports', 'aaguid']).executeTakeFirst();
}

/** Deletes the passkeys of an owner with every challenge. @param isForGood with the user handle too */
export async function deletePasskeyRowsOf(
  tx: Tx,
  { developerId }: Tenant,
  { ownerKind, ownerId }: PasskeyOwner,
  { isForGood }: { readonly isForGood: boolean },
): Promise<RemovedPasskey[]> {
  for (const table of ['passkeyUsers', 'passkeyChallenges'] as const) {
    if (table === 'passkeyUsers' && !isForGood) continue;
    await tx
      .deleteFrom(table)
      .where('developerId', '=', developerId)
      .where('ownerKind', '=', ownerKind)
      .where('ownerId', '=', ownerId)
      .execute();
  }
  return tx
    .deleteFrom('passkeys')
    .where('developerId', '=', developerId)
    .where('ownerKind', '=', ownerKind)
    .where('ownerId', '=', ownerId)
    .returning(['id', 'ownerId', 'transports', 'aaguid'])
    .execute();
}

/** The passkeys of principals, as a table whose rows name a principal. */
const ofPrincipals = sql`(select *, owner_id as principal_id from passkeys where owner_kind = 'principal') passkeys`;

/** The principals of passkeys who have one of these ids, in any case. */
export const principalsWithPasskeys = principalsIn(ofPrincipals);

export const tellPasskeys = exportOf('passkey', ofPrincipals, [
  ...['device_name', 'status', 'is_multi_device', 'backed_up', 'aaguid', 'created_at', 'last_used_at'],
]);

/** Erases what a person signed with their passkeys. */
export const eraseEvidenceOf: ErasePerson = async (tx, tenant, principalId) => {
  await tx
    .deleteFrom('passkeyEvidence')
    .where('developerId', '=', tenant.developerId)
    .where('authRequestId', 'in', requestsOfPrincipal(tx, tenant, principalId).select('id'))
    .execute();
};

/** Erases rows of a closed account. */
export const erasePasskeys = eraserOf('passkey_evidence', 'passkey_challenges', 'passkeys', 'passkey_users');
