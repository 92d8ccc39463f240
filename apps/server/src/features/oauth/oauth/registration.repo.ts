import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { DynamicClients } from '../../../platform/db/types.gen.ts';

export type DynamicClientRow = Selectable<DynamicClients>;

const dynamicClient = lookUp<DynamicClientRow, [clientId: string, at: Date]>(
  'find_dynamic_client',
  `select client_id as "clientId", name, redirect_uris as "redirectUris", auth_method as "authMethod",
     secret_hash as "secretHash", management_hash as "managementHash", keys, refreshes, description,
     created_at as "createdAt", expires_at as "expiresAt"
   from dynamic_clients where client_id = $1 and expires_at > $2`,
);

/** It takes no tenant by design: such a client belongs to no developer. @returns undefined for one that ran out */
export async function findDynamicClientAcrossTenants(
  db: Executor,
  clientId: string,
  at: Date,
): Promise<DynamicClientRow | undefined> {
  return (await dynamicClient(db, clientId, at))[0];
}

export const insertDynamicClient = (
  db: Executor,
  row: Insertable<DynamicClients>,
): Promise<DynamicClientRow> =>
  db.insertInto('dynamicClients').values(row).returningAll().executeTakeFirstOrThrow();

export const updateDynamicClient = (db: Executor, clientId: string, change: Updateable<DynamicClients>) =>
  db
    .updateTable('dynamicClients')
    .set(change)
    .where('clientId', '=', clientId)
    .returningAll()
    .executeTakeFirst();

export async function deleteDynamicClient(db: Executor, clientId: string): Promise<void> {
  await db.deleteFrom('dynamicClients').where('clientId', '=', clientId).execute();
}

const USED_SECONDS = 90 * 86_400;
const RENEWED_AFTER_SECONDS = 86_400;

/** Puts off the end of a client that is in use, once a day, so that not each token writes it. */
export async function renewDynamicClient(db: Executor, clientId: string, at: Date): Promise<void> {
  const until = new Date(at.getTime() + USED_SECONDS * 1000);
  await db
    .updateTable('dynamicClients')
    .set({ expiresAt: until })
    .where('clientId', '=', clientId)
    .where('expiresAt', '<', new Date(until.getTime() - RENEWED_AFTER_SECONDS * 1000))
    .execute();
}

/** Deletes clients that nobody has used for long. @returns how many */
export async function deleteUnusedClientsAcrossTenants(
  db: Executor,
  at: Date,
  limit: number,
): Promise<number> {
  const due = db.selectFrom('dynamicClients').select('clientId').where('expiresAt', '<=', at).limit(limit);
  const { numDeletedRows } = await db
    .deleteFrom('dynamicClients')
    .where('clientId', 'in', due)
    .where('expiresAt', '<=', at)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
