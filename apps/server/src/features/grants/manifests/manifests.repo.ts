import { type Insertable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { Manifests, ManifestVersions } from '../../../platform/db/types.gen.ts';
import { currentManifests } from './manifests.queries.ts';
import type { ManifestQuery, ManifestVersionQuery } from './manifests.schema.ts';

type Current = Omit<Insertable<Manifests>, 'developerId'>;
type Version = Omit<Insertable<ManifestVersions>, 'developerId'>;

export function findManifest(db: Executor, tenant: Tenant, connector: string) {
  return currentManifests(db, tenant).where('current.connector', '=', connector).executeTakeFirst();
}
export type ManifestRow = NonNullable<Awaited<ReturnType<typeof findManifest>>>;

/** In the order of the connectors' names. */
export function listManifestRows(db: Executor, { developerId }: Tenant, { cursor, limit }: ManifestQuery) {
  const all = db
    .selectFrom('manifests')
    .select(['connector', 'version', 'sha256', 'updatedAt'])
    .where('developerId', '=', developerId);
  const page = cursor === undefined ? all : all.where('connector', '>', cursor);
  return readPage(db, page.orderBy('connector'), limit);
}

/** Other connectors whose names a reader may take for this one. */
export function listSimilar(
  db: Executor,
  { developerId }: Tenant,
  { connector, looks }: Current,
  limit: number,
) {
  return db
    .selectFrom('manifests')
    .select('connector')
    .where('developerId', '=', developerId)
    .where('looks', '=', looks)
    .where('connector', '<>', connector)
    .orderBy('connector')
    .limit(limit)
    .execute();
}

/** The numbers and hashes of a connector's versions, the newest first, those from before a deletion included. */
export function listVersions(db: Executor, { developerId }: Tenant, connector: string) {
  return db
    .selectFrom('manifestVersions')
    .select(['revision', 'sha256'])
    .where('developerId', '=', developerId)
    .where('connector', '=', connector)
    .orderBy('revision', 'desc')
    .execute();
}

/** The texts of a connector's versions, the newest first, those from before a deletion included. */
export function listVersionRows(
  db: Executor,
  { developerId }: Tenant,
  connector: string,
  { cursor, limit }: ManifestVersionQuery,
) {
  const all = db
    .selectFrom('manifestVersions')
    .select(['revision', 'version', 'sha256', 'actor', 'createdAt', 'manifest'])
    .where('developerId', '=', developerId)
    .where('connector', '=', connector);
  const page = cursor === undefined ? all : all.where('revision', '<', Number(cursor));
  return readPage(db, page.orderBy('revision', 'desc'), limit);
}

export function findVersion(db: Executor, { developerId }: Tenant, connector: string, revision: number) {
  return db
    .selectFrom('manifestVersions')
    .select(['manifest', 'pins'])
    .where('developerId', '=', developerId)
    .where('connector', '=', connector)
    .where('revision', '=', revision)
    .executeTakeFirst();
}

/** Stores a version and makes it the current one. */
export async function writeVersion(tx: Tx, { developerId }: Tenant, current: Current, version: Version) {
  await tx
    .insertInto('manifestVersions')
    .values({ ...version, developerId })
    .execute();
  const { createdAt: _, connector, ...changed } = current;
  await tx
    .insertInto('manifests')
    .values({ ...current, developerId })
    .onConflict((conflict) => conflict.columns(['developerId', 'connector']).doUpdateSet(changed))
    .execute();
}

/** Forgets the oldest versions of a connector, beyond so many or so many bytes. The newest two stay in any case. */
export async function deleteOldVersions(
  tx: Tx,
  { developerId }: Tenant,
  connector: string,
  most: { readonly versions: number; readonly bytes: number },
): Promise<void> {
  await sql`delete from manifest_versions v using (
      select revision, row_number() over newest as place, sum(octet_length(manifest::text)) over newest as bytes
      from manifest_versions where developer_id = ${developerId} and connector = ${connector}
      window newest as (order by revision desc)) as kept
    where v.developer_id = ${developerId} and v.connector = ${connector} and v.revision = kept.revision
      and kept.place > 2 and (kept.place > ${most.versions} or kept.bytes > ${most.bytes})`.execute(tx);
}

/** Counts the connectors whose manifests are deleted, and whose versions are not forgotten. */
export async function countDeletedConnectors(tx: Tx, { developerId }: Tenant): Promise<number> {
  const { rows } = await sql<{ count: string }>`select count(distinct o.connector) from manifest_versions o
    where o.developer_id = ${developerId} and not exists (
      select from manifests m where m.developer_id = ${developerId} and m.connector = o.connector)`.execute(
    tx,
  );
  return Number(rows[0]?.count ?? 0);
}

/** Forgets the versions of connectors whose manifests are deleted, but of so many that were written last. */
export async function deleteVersionsOfDeleted(tx: Tx, { developerId }: Tenant, most: number): Promise<void> {
  await sql`delete from manifest_versions v where v.developer_id = ${developerId} and v.connector = any (array(
      select o.connector from manifest_versions o
      where o.developer_id = ${developerId} and not exists (
        select from manifests m where m.developer_id = ${developerId} and m.connector = o.connector)
      group by o.connector order by max(o.created_at) desc, o.connector offset ${most}))`.execute(tx);
}

/** Its versions stay. @returns the row, if the connector had a manifest */
export function deleteManifestRow(tx: Tx, { developerId }: Tenant, connector: string) {
  return tx
    .deleteFrom('manifests')
    .where('developerId', '=', developerId)
    .where('connector', '=', connector)
    .returning('sha256')
    .executeTakeFirst();
}

/** Erases rows of a closed account. */
export const eraseManifests = eraserOf('manifests', 'manifest_versions');
