import { canonicalResource } from '@behest/protocol/resource-uri';
import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { Resources } from '../../../platform/db/types.gen.ts';
import type { ResourceQuery } from './resources.schema.ts';

export type ResourceRow = Selectable<Resources>;

/** No two developers register one URI, in whatever spelling: the index has its one spelling. */
export const URI_INDEX = 'resource_index_pkey';

export async function insertResource(
  tx: Tx,
  { developerId }: Tenant,
  resource: Omit<Insertable<Resources>, 'developerId'>,
  hash: Buffer,
): Promise<ResourceRow> {
  const row = await tx
    .insertInto('resources')
    .values({ ...resource, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('resourceIndex')
    .values({ resource: canonicalResource(resource.resource), hash, developerId, resourceId: resource.id })
    .execute();
  return row;
}

const resourcesOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('resources').selectAll().where('developerId', '=', developerId);

export const findResource = (db: Executor, tenant: Tenant, id: string): Promise<ResourceRow | undefined> =>
  resourcesOf(db, tenant).where('id', '=', id).executeTakeFirst();

/** Newest first: ids begin with the time. */
export function listResourceRows(db: Executor, tenant: Tenant, { cursor, limit }: ResourceQuery) {
  const all = resourcesOf(db, tenant);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

export function updateResource(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<Resources>,
): Promise<ResourceRow | undefined> {
  return tx
    .updateTable('resources')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes the index first, which on Citus has no foreign key. @returns the resource, if it was there */
export async function deleteResourceRow(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
): Promise<ResourceRow | undefined> {
  await tx
    .deleteFrom('resourceIndex')
    .where('developerId', '=', developerId)
    .where('resourceId', '=', id)
    .execute();
  return tx
    .deleteFrom('resources')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Erases rows of a closed account. */
export const eraseResources = eraserOf('resource_index', 'resources');
