import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import type { BundleQuery, PolicyBundle } from './bundles.schema.ts';

type Format = PolicyBundle['format'];

/** A bundle without its content, which only one route reads. */
export type BundleRow = Omit<PolicyBundle, 'createdAt'> & { readonly createdAt: Date };

interface SealedSecret {
  readonly secret: Buffer;
  readonly sealKeyId: string;
}

const columns = [
  'id',
  'developerId',
  'format',
  'version',
  'sha256',
  'fileCount',
  'active',
  'createdAt',
] as const;

const bundlesOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('policyBundles').select(columns).where('developerId', '=', developerId);

/** Changes of a developer's bundles take turns, so that one of a format is active. Call it first. */
export async function lockBundles(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`bundles:${developerId}`}, 0))`.execute(tx);
}

export function insertBundle(tx: Tx, row: BundleRow, content: Buffer) {
  return tx
    .insertInto('policyBundles')
    .values({ ...row, content })
    .execute();
}

export const findBundle = (db: Executor, tenant: Tenant, id: string): Promise<BundleRow | undefined> =>
  bundlesOf(db, tenant).where('id', '=', id).executeTakeFirst();

export const findVersion = (db: Executor, tenant: Tenant, format: Format, version: string) =>
  bundlesOf(db, tenant).where('format', '=', format).where('version', '=', version).executeTakeFirst();

export const findActive = (db: Executor, tenant: Tenant, format: Format): Promise<BundleRow | undefined> =>
  bundlesOf(db, tenant).where('format', '=', format).where('active', '=', true).executeTakeFirst();

export const findContent = (db: Executor, { developerId }: Tenant, id: string) =>
  db
    .selectFrom('policyBundles')
    .select(['format', 'sha256', 'content'])
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();

/** The newest first. */
export function listBundleRows(db: Executor, tenant: Tenant, { cursor, limit, format }: BundleQuery) {
  let rows = bundlesOf(db, tenant);
  if (format) rows = rows.where('format', '=', format);
  if (cursor) rows = rows.where('id', '<', cursor);
  return readPage<BundleRow>(db, rows.orderBy('id', 'desc'), limit);
}

export async function setActive(tx: Tx, { developerId }: Tenant, id: string, active: boolean): Promise<void> {
  await tx
    .updateTable('policyBundles')
    .set({ active })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

export async function deleteBundleRow(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx.deleteFrom('policyBundles').where('developerId', '=', developerId).where('id', '=', id).execute();
}

export async function putSecret(
  tx: Tx,
  { developerId }: Tenant,
  sealed: SealedSecret,
  createdAt: Date,
): Promise<void> {
  const row = { ...sealed, createdAt };
  await tx
    .insertInto('policySyncSecrets')
    .values({ developerId, ...row })
    .onConflict((conflict) => conflict.column('developerId').doUpdateSet(row))
    .execute();
}

/** For the start: the secrets of all developers that other keys sealed. */
export function listSealedOtherwiseAcrossTenants(
  db: Executor,
  currentKeyId: string,
  after: Tenant | undefined,
  limit: number,
) {
  return db
    .selectFrom('policySyncSecrets')
    .select(['developerId', 'secret'])
    .where('sealKeyId', '<>', currentKeyId)
    .where('developerId', '>', after?.developerId ?? '')
    .orderBy('developerId')
    .limit(limit)
    .execute();
}

/** Leaves a secret that was made meanwhile. */
export async function replaceSealed(
  db: Executor,
  { developerId }: Tenant,
  before: Buffer,
  sealed: SealedSecret,
): Promise<void> {
  await db
    .updateTable('policySyncSecrets')
    .set(sealed)
    .where('developerId', '=', developerId)
    .where('secret', '=', before)
    .execute();
}

/** The secret with the parts of a caller that stands for the developer. */
export const findSecret = (db: Executor, { developerId }: Tenant) =>
  db
    .selectFrom('policySyncSecrets')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'policySyncSecrets.developerId')
    .select(['policySyncSecrets.secret', 'developer.mode', 'developer.plan'])
    .where('policySyncSecrets.developerId', '=', developerId)
    .executeTakeFirst();

/** Erases rows of a closed account. */
export const eraseBundles = eraserOf('policy_bundles', 'policy_sync_secrets');
