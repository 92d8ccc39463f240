import { randomBytes } from 'node:crypto';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf, tellerOf } from '../../../platform/db/personal-data.ts';
import type { PasskeyChallenges, Passkeys } from '../../../platform/db/types.gen.ts';
import { KEPT_MS, MAX_OPEN } from './passkeys.rules.ts';

export type PasskeyRow = Selectable<Passkeys>;

/** Locks the principal until the commit. @returns the user handle, which is made the first time */
export async function lockUser(tx: Tx, { developerId }: Tenant, principalId: string): Promise<Buffer> {
  const { userHandle } = await tx
    .insertInto('passkeyUsers')
    .values({ developerId, principalId, userHandle: randomBytes(32) })
    .onConflict((there) =>
      there.columns(['developerId', 'principalId']).doUpdateSet(({ ref }) => ({
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
    .onConflict((there) => there.columns(['developerId', 'credentialId']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

const passkeysOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('passkeys').selectAll().where('developerId', '=', developerId);

/** @param status only passkeys of this status */
export function listAllOf(
  db: Executor,
  tenant: Tenant,
  principalId: string,
  status?: 'active',
): Promise<PasskeyRow[]> {
  const all = passkeysOf(db, tenant).where('principalId', '=', principalId);
  const some = status ? all.where('status', '=', status) : all;
  return some.orderBy('id', 'desc').limit(100).execute();
}

interface Page {
  readonly principalId: string;
  readonly cursor?: string;
  readonly limit: number;
}

export function listPasskeyRows(db: Executor, tenant: Tenant, { principalId, cursor, limit }: Page) {
  const all = passkeysOf(db, tenant).where('principalId', '=', principalId);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

export function findByCredential(
  db: Executor,
  tenant: Tenant,
  principalId: string,
  credentialId: Buffer,
): Promise<PasskeyRow | undefined> {
  return passkeysOf(db, tenant)
    .where('principalId', '=', principalId)
    .where('credentialId', '=', credentialId)
    .executeTakeFirst();
}

/** The passkey that an authenticator has found by itself, under the handle of its principal. */
export function findDiscovered(
  db: Executor,
  { developerId }: Tenant,
  { credentialId, userHandle }: { readonly credentialId: Buffer; readonly userHandle: Buffer },
): Promise<PasskeyRow | undefined> {
  return db
    .selectFrom('passkeys as passkey')
    .innerJoin('passkeyUsers as user', (join) =>
      join
        .onRef('user.developerId', '=', 'passkey.developerId')
        .onRef('user.principalId', '=', 'passkey.principalId'),
    )
    .selectAll('passkey')
    .where('passkey.developerId', '=', developerId)
    .where('user.developerId', '=', developerId)
    .where('passkey.credentialId', '=', credentialId)
    .where('user.userHandle', '=', userHandle)
    .executeTakeFirst();
}

/** @param status the status that it has to have */
export function updatePasskey(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: { readonly deviceName?: string; readonly status?: 'active' | 'suspect' },
  status?: 'active',
): Promise<PasskeyRow | undefined> {
  const its = tx
    .updateTable('passkeys')
    .set(change)
    .where('developerId', '=', developerId)
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
  { developerId }: Tenant,
  { id, counter, backedUp }: Pick<PasskeyRow, 'id' | 'backedUp'> & { readonly counter: number },
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

export type RemovedPasskey = Pick<PasskeyRow, 'id' | 'principalId' | 'transports' | 'aaguid'>;

/** @param principalId the person whose passkey it has to be */
export function deletePasskeyRow(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  principalId?: string,
): Promise<RemovedPasskey | undefined> {
  const its = tx.deleteFrom('passkeys').where('developerId', '=', developerId).where('id', '=', id);
  const own = principalId === undefined ? its : its.where('principalId', '=', principalId);
  return own.returning(['id', 'principalId', 'transports', 'aaguid']).executeTakeFirst();
}

/** Deletes the passkeys of a principal, with the user handle and every challenge. */
export async function deletePasskeyRowsOf(tx: Tx, { developerId }: Tenant, principalId: string) {
  for (const table of ['passkeyUsers', 'passkeyChallenges'] as const) {
    await tx
      .deleteFrom(table)
      .where('developerId', '=', developerId)
      .where('principalId', '=', principalId)
      .execute();
  }
  return tx
    .deleteFrom('passkeys')
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .returning(['id', 'principalId', 'transports', 'aaguid'])
    .execute();
}

/** Erases rows of a closed account. */
export const tellPasskeys = tellerOf('passkey', 'passkeys', [
  ...['device_name', 'status', 'is_multi_device', 'backed_up', 'aaguid', 'created_at', 'last_used_at'],
]);

export const erasePasskeys = eraserOf('passkey_evidence', 'passkey_challenges', 'passkeys', 'passkey_users');

export type ChallengeRow = Selectable<PasskeyChallenges>;

/**
 * Inserts a challenge, and deletes those that are too many or too old. The caller has locked the principal.
 */
export async function insertChallenge(
  tx: Tx,
  { developerId }: Tenant,
  challenge: Omit<Insertable<PasskeyChallenges>, 'developerId'>,
  at: Date,
): Promise<void> {
  await tx
    .insertInto('passkeyChallenges')
    .values({ ...challenge, developerId })
    .execute();
  const kept = tx
    .selectFrom('passkeyChallenges')
    .select('id')
    .where('developerId', '=', developerId)
    .where('principalId', '=', challenge.principalId)
    .where('usedAt', 'is', null)
    .orderBy('id', 'desc')
    .limit(MAX_OPEN);
  await tx
    .deleteFrom('passkeyChallenges')
    .where('developerId', '=', developerId)
    .where('principalId', '=', challenge.principalId)
    .where('usedAt', 'is', null)
    .where('id', 'not in', kept)
    .execute();
  await tx
    .deleteFrom('passkeyChallenges')
    .where('developerId', '=', developerId)
    .where('expiresAt', '<=', new Date(at.getTime() - KEPT_MS))
    .execute();
}

interface Claim {
  readonly id: string;
  readonly use: ChallengeRow['use'];
  readonly subjectId: string | null;
  /** The person whose challenge it has to be. Registering finds the person by the challenge. */
  readonly principalId?: string;
}

/** An open challenge, for a look at the answer before it is taken. */
export function findChallenge(
  db: Executor,
  { developerId }: Tenant,
  { id, use, subjectId, principalId }: Claim,
  at: Date,
): Promise<ChallengeRow | undefined> {
  const open = db
    .selectFrom('passkeyChallenges')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('use', '=', use)
    .where('subjectId', 'is not distinct from', subjectId)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', at);
  const own = principalId === undefined ? open : open.where('principalId', '=', principalId);
  return own.executeTakeFirst();
}

/** Takes a challenge, which nobody can take again: one statement, so that one of two takers gets it. */
export async function claimChallenge(
  db: Executor,
  { developerId }: Tenant,
  id: string,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeyChallenges')
    .set({ usedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', at)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Keeps the assertion over a challenge until the person decides. */
export async function keepAssertion(
  tx: Tx,
  { developerId }: Tenant,
  { id, passkeyId, signed }: { readonly id: string; readonly passkeyId: string; readonly signed: object },
): Promise<void> {
  await tx
    .updateTable('passkeyChallenges')
    .set({ passkeyId, signed: JSON.stringify(signed) })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/**
 * Stores the assertion of a challenge as the evidence of an approval.
 * @returns whether the passkey is still there and not suspect
 */
export async function insertEvidence(
  tx: Tx,
  { developerId }: Tenant,
  { challengeId, requestId }: { readonly challengeId: string; readonly requestId: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('passkeyEvidence')
    .columns(['developerId', 'authRequestId', 'passkeyId', 'evidence', 'verifiedAt'])
    .expression(
      tx
        .selectFrom('passkeyChallenges as challenge')
        .innerJoin('passkeys as passkey', (join) =>
          join
            .onRef('passkey.developerId', '=', 'challenge.developerId')
            .onRef('passkey.id', '=', 'challenge.passkeyId'),
        )
        .where('challenge.developerId', '=', developerId)
        .where('passkey.developerId', '=', developerId)
        .where('challenge.id', '=', challengeId)
        .where('challenge.subjectId', '=', requestId)
        .where('passkey.status', '=', 'active')
        .select(['challenge.developerId', 'challenge.subjectId', 'passkey.id'])
        .select([
          sql<string>`challenge.signed`.as('evidence'),
          sql<Date>`challenge.used_at`.as('verifiedAt'),
        ]),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}
