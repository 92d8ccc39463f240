import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor, Tx } from '../../platform/db/db.ts';
import type { Developers } from '../../platform/db/types.gen.ts';

export type DeveloperRow = Selectable<Developers>;

/** @returns undefined when there is a seeded developer of this mode already. */
export function insertDeveloper(tx: Tx, developer: Insertable<Developers>) {
  return tx
    .insertInto('developers')
    .values(developer)
    .onConflict((on) => on.column('mode').where('isSeeded', '=', true).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function getDeveloperRow(db: Executor, { developerId }: Tenant): Promise<DeveloperRow> {
  return db.selectFrom('developers').selectAll().where('id', '=', developerId).executeTakeFirstOrThrow();
}

export function lockDeveloper(tx: Tx, { developerId }: Tenant): Promise<DeveloperRow> {
  return tx
    .selectFrom('developers')
    .selectAll()
    .where('id', '=', developerId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

export function updateDeveloper(tx: Tx, { developerId }: Tenant, change: Updateable<Developers>) {
  return tx
    .updateTable('developers')
    .set(change)
    .where('id', '=', developerId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** For start-up, which knows no tenant yet. */
export function lockSeededAcrossTenants(tx: Tx, mode: 'live' | 'sandbox') {
  return tx
    .selectFrom('developers')
    .selectAll()
    .where('mode', '=', mode)
    .where('isSeeded', '=', true)
    .forUpdate()
    .executeTakeFirst();
}

/** Whose key this is, whether or not it is still good. */
export async function findKeyOwnerAcrossTenants(db: Executor, hash: Buffer) {
  const call = sql<{ developerId: string; keyId: string; revokedAt: Date | null }>`
    select k.developer_id, k.id as key_id, k.revoked_at from api_key_index i
    join api_keys k on k.developer_id = i.developer_id and k.id = i.key_id where i.hash = ${hash}`;
  return (await call.execute(db)).rows[0];
}
