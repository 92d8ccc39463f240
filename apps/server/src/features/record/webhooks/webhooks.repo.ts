import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { WebhookEndpoints } from '../../../platform/db/types.gen.ts';
import type { WebhookQuery } from './webhooks.schema.ts';

export type EndpointRow = Selectable<WebhookEndpoints>;
type NewRow = Omit<Insertable<WebhookEndpoints>, 'developerId'>;

export function insertEndpoint(tx: Tx, { developerId }: Tenant, endpoint: NewRow): Promise<EndpointRow> {
  return tx
    .insertInto('webhookEndpoints')
    .values({ ...endpoint, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** No stream of signals, which has its endpoint here too. The same holds for the list and the lock. */
export function findEndpoint(db: Executor, { developerId }: Tenant, id: string) {
  return db
    .selectFrom('webhookEndpoints')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('streamState', 'is', null)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Newest first. */
export function listEndpointRows(db: Executor, { developerId }: Tenant, { limit, cursor }: WebhookQuery) {
  const all = db
    .selectFrom('webhookEndpoints')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('streamState', 'is', null);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

/** Locks the row, so that the second of two concurrent changes sees the result of the first. */
export function lockEndpoint(tx: Tx, { developerId }: Tenant, id: string) {
  return tx
    .selectFrom('webhookEndpoints')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('streamState', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

export function updateEndpoint(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<WebhookEndpoints>,
) {
  return tx
    .updateTable('webhookEndpoints')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteEndpoint(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx
    .deleteFrom('webhookEndpoints')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** Sets how many attempts new deliveries get. The process that started last decides. */
export async function setMaxAttemptsAcrossTenants(db: Executor, maxAttempts: number): Promise<void> {
  await db
    .updateTable('webhookEndpoints')
    .set({ maxAttempts })
    .where('maxAttempts', '<>', maxAttempts)
    .where('streamState', 'is', null)
    .execute();
}

/**
 * Lists a batch of endpoints, in the order of ids, whose secrets are sealed under a key that is not current.
 */
export function listSealedOtherwiseAcrossTenants(
  db: Executor,
  currentKeyId: string,
  after: Pick<EndpointRow, 'developerId' | 'id'> = { developerId: '', id: '' },
  limit: number,
) {
  return db
    .selectFrom('webhookEndpoints')
    .select(['developerId', 'id', 'secret', 'previousSecret', 'sealKeyId'])
    .where('sealKeyId', '<>', currentKeyId)
    .where(sql<boolean>`(developer_id, id) > (${after.developerId}, ${after.id})`)
    .orderBy('developerId')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Replaces sealed secrets, unless the secret was rotated or sealed again meanwhile. */
export async function replaceSealed(
  db: Executor,
  { developerId }: Tenant,
  id: string,
  before: Pick<EndpointRow, 'secret'>,
  sealed: Pick<EndpointRow, 'secret' | 'previousSecret' | 'sealKeyId'>,
): Promise<void> {
  await db
    .updateTable('webhookEndpoints')
    .set(sealed)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('secret', '=', before.secret)
    .execute();
}

/**
 * Leaves endpoints with these patterns one attempt at one type of event, and disables all others. Streams of signals go
 * on, so that the last revocations arrive.
 */
export async function keepForLast(
  tx: Tx,
  { developerId }: Tenant,
  { type, patterns }: { readonly type: string; readonly patterns: string[] },
): Promise<void> {
  const all = tx
    .updateTable('webhookEndpoints')
    .where('developerId', '=', developerId)
    .where('streamState', 'is', null);
  await all
    .set({ status: 'disabled' })
    .where(({ not }) => not(sql<boolean>`events && ${patterns}`))
    .execute();
  await all
    .set({ events: [type], maxAttempts: 1 })
    .where('status', '=', 'active')
    .execute();
}

/** Erases rows of a closed account. */
export const eraseWebhooks = eraserOf('webhook_deliveries', 'webhook_endpoints');
