import { type Insertable, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { statement } from '../../../platform/db/statement.ts';
import type { ApiKeys } from '../../../platform/db/types.gen.ts';

export type KeyRow = Selectable<ApiKeys>;
type NewRow = Omit<Insertable<ApiKeys>, 'developerId'>;

interface FoundKey {
  readonly hash: Buffer;
  readonly developerId: string;
  readonly keyId: string;
  readonly role: 'runtime' | 'full';
  readonly mode: 'live' | 'sandbox';
  readonly plan: 'free' | 'pro' | 'enterprise';
  readonly agentIds: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly useSeenAt: Date;
}

const usedKey = statement<FoundKey, [hash: Buffer, at: Date]>(
  'use_key',
  `with found as (
     select i.hash, k.developer_id, k.id as key_id, k.role, k.agent_ids, k.expires_at, k.last_used_at, d.mode, d.plan,
       k.last_used_at is null or k.last_used_at <= $2::timestamptz - interval '1 minute' as is_due
     from api_key_index i
     join api_keys k on k.developer_id = i.developer_id and k.id = i.key_id
     join developers d on d.id = k.developer_id
     where i.hash = $1 and d.closed_at is null and k.revoked_at is null and (k.expires_at is null or k.expires_at > $2)
   ), noted as (
     update api_keys k set last_used_at = $2 from found
     where k.developer_id = found.developer_id and k.id = found.key_id and found.is_due
   )
   select hash, developer_id as "developerId", key_id as "keyId", role, mode, plan, agent_ids as "agentIds",
     expires_at as "expiresAt",
     case when is_due then $2 else last_used_at end as "useSeenAt"
   from found`,
);

/**
 * A valid key with its developer. The same statement sets the key's last use, once a minute at most. It takes
 * no tenant by design, because the key names the tenant. Reads developers.
 */
export async function findKeyAcrossTenants(
  db: Executor,
  hash: Buffer,
  at: Date,
): Promise<FoundKey | undefined> {
  return (await usedKey(db, hash, at))[0];
}

export async function insertKey(
  tx: Tx,
  { developerId }: Tenant,
  { hash, ...key }: NewRow & { id: string; hash: Buffer },
): Promise<KeyRow> {
  const row = await tx
    .insertInto('apiKeys')
    .values({ ...key, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx.insertInto('apiKeyIndex').values({ hash, developerId, keyId: key.id }).execute();
  return row;
}

/**
 * The owner of a key that may have ended. `isReplaced` says that its developer replaced it by a rotation.
 */
export async function findKeyOwnerAcrossTenants(db: Executor, hash: Buffer) {
  const call = sql<{ developerId: string; keyId: string; isRevoked: boolean; isReplaced: boolean }>`
    select k.developer_id, k.id as key_id, k.revoked_at is not null as is_revoked,
      k.replaced_at is not null as is_replaced
    from api_key_index i
    join api_keys k on k.developer_id = i.developer_id and k.id = i.key_id where i.hash = ${hash}`;
  return (await call.execute(db)).rows[0];
}

/** Stores a known secret under a new record. The former record stays as it ended. */
export async function insertKeyAgain(
  tx: Tx,
  { developerId }: Tenant,
  { hash, ...key }: NewRow & { id: string; hash: Buffer },
): Promise<void> {
  await tx
    .insertInto('apiKeys')
    .values({ ...key, developerId })
    .execute();
  await tx
    .updateTable('apiKeyIndex')
    .set({ keyId: key.id })
    .where('hash', '=', hash)
    .where('developerId', '=', developerId)
    .execute();
}

/** Newest first. */
export function listKeyRows(
  db: Executor,
  { developerId }: Tenant,
  { limit, cursor }: { limit: number; cursor?: string },
) {
  const all = db.selectFrom('apiKeys').selectAll().where('developerId', '=', developerId);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

/**
 * Locks the developer's valid keys, so that the second of two simultaneous changes sees the first. Revoked
 * keys are not among them. A caller that counts the keys locks the developer first, because row locks do not
 * stop inserts.
 */
export function lockUsableKeys(tx: Tx, { developerId }: Tenant, at: Date) {
  return tx
    .selectFrom('apiKeys')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('revokedAt', 'is', null)
    .where((or) => or.or([or('expiresAt', 'is', null), or('expiresAt', '>', at)]))
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Locks any key of the developer, even an ended key. */
export function lockKey(tx: Tx, { developerId }: Tenant, keyId: string) {
  return tx
    .selectFrom('apiKeys')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', keyId)
    .forUpdate()
    .executeTakeFirst();
}

/** @param change the time of the revocation, or the time of the replacement and the end of the overlap */
export async function endKey(
  tx: Tx,
  { developerId }: Tenant,
  keyId: string,
  change: { revokedAt: Date; replacedAt?: Date } | { replacedAt: Date; expiresAt: Date },
): Promise<void> {
  await tx
    .updateTable('apiKeys')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', keyId)
    .execute();
}

/** Erases rows of a closed account. */
export const eraseKeys = eraserOf('api_key_index', 'api_keys');
