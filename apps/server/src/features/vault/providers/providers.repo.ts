import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { VaultProviders } from '../../../platform/db/types.gen.ts';
import type { ProviderQuery } from './providers.schema.ts';

export type ProviderRow = Selectable<VaultProviders>;

/** A developer has one provider of each service. */
export const SERVICE_INDEX = 'vault_providers_service';
/** The reference from credentials that people connected. */
export const CONNECTED = 'vault_credentials_developer_id_provider_id_fkey';

export function insertProvider(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<VaultProviders>, 'developerId' | 'version'>,
): Promise<ProviderRow> {
  return tx
    .insertInto('vaultProviders')
    .values({ ...row, developerId, version: 1 })
    .returningAll()
    .executeTakeFirstOrThrow();
}

const providersOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('vaultProviders').selectAll().where('developerId', '=', developerId);

export const findProvider = (db: Executor, tenant: Tenant, id: string): Promise<ProviderRow | undefined> =>
  providersOf(db, tenant).where('id', '=', id).executeTakeFirst();

export const findProviderOf = (
  db: Executor,
  tenant: Tenant,
  service: string,
): Promise<ProviderRow | undefined> =>
  providersOf(db, tenant).where('service', '=', service).executeTakeFirst();

/** Newest first: ids begin with the time. */
export function listProviderRows(db: Executor, tenant: Tenant, { cursor, limit }: ProviderQuery) {
  const all = providersOf(db, tenant);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

/** Changes a provider that nobody changed meanwhile. @returns undefined when somebody did */
export function updateProvider(
  tx: Tx,
  { developerId }: Tenant,
  { id, version }: Pick<ProviderRow, 'id' | 'version'>,
  change: Updateable<VaultProviders>,
): Promise<ProviderRow | undefined> {
  return tx
    .updateTable('vaultProviders')
    .set({ ...change, version: sql<string>`version + 1` })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('version', '=', version)
    .returningAll()
    .executeTakeFirst();
}

/** Marks a provider that works no more. @returns whether it was another state before */
export async function failProvider(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  failure: { readonly lastError: string; readonly updatedAt: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('vaultProviders')
    .set({ status: 'error', ...failure, version: sql<string>`version + 1` })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where(({ eb, or }) => or([eb('status', '!=', 'error'), eb('lastError', '!=', failure.lastError)]))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/**
 * Marks a provider whose client the upstream refused at a person, and as failed if it did so at another person before.
 * @returns whether it failed with this
 */
export async function refuseClient(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  { principalId, lastError, updatedAt }: ClientRefusal,
): Promise<boolean> {
  const row = await tx
    .updateTable('vaultProviders')
    .set({
      status: sql`case when client_refused_for is null then status else 'error' end`,
      clientRefusedFor: principalId,
      lastError,
      updatedAt,
      version: sql<string>`version + 1`,
    })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where(({ eb, or }) =>
      or([eb('clientRefusedFor', 'is', null), eb('clientRefusedFor', '!=', principalId)]),
    )
    .where(({ eb, or }) => or([eb('status', '!=', 'error'), eb('lastError', '!=', lastError)]))
    .returning('status')
    .executeTakeFirst();
  return row?.status === 'error';
}

interface ClientRefusal {
  readonly principalId: string;
  readonly lastError: string;
  readonly updatedAt: Date;
}

/** Forgets a refusal of the client, because the upstream has taken it since. A provider that failed stays so. */
export async function acceptClient(db: Executor, { developerId }: Tenant, id: string): Promise<void> {
  await db
    .updateTable('vaultProviders')
    .set({ clientRefusedFor: null, lastError: null })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('clientRefusedFor', 'is not', null)
    .where('status', '!=', 'error')
    .execute();
}

export function deleteProviderRow(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
): Promise<ProviderRow | undefined> {
  return tx
    .deleteFrom('vaultProviders')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** The provider of a client document's address, which names no developer. */
export function findClientAcrossTenants(db: Executor, id: string): Promise<ProviderRow | undefined> {
  return db
    .selectFrom('vaultProviders')
    .selectAll()
    .where('id', '=', id)
    .where('clientSource', '=', 'cimd')
    .executeTakeFirst();
}

/** Erases rows of a closed account. */
export const eraseProviders = eraserOf('vault_providers');

/** The first key id after another that seals a provider's secrets, by one probe of the index. */
export async function nextProviderKeyAcrossTenants(db: Executor, after: string): Promise<string | undefined> {
  const next = await db
    .selectFrom('vaultProviders')
    .select('keyId')
    .where('keyId', '>', after)
    .orderBy('keyId')
    .limit(1)
    .executeTakeFirst();
  return next?.keyId ?? undefined;
}

/** Providers whose secrets a key seals, after a position in the order of their ids. */
export function listProvidersUnderAcrossTenants(
  db: Executor,
  keyId: string,
  after: Pick<ProviderRow, 'developerId' | 'id'>,
  limit: number,
): Promise<ProviderRow[]> {
  return db
    .selectFrom('vaultProviders')
    .selectAll()
    .where('keyId', '=', keyId)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('developerId', 'id'), '>', tuple(after.developerId, after.id)),
    )
    .orderBy('developerId')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** @returns whether the data key was still the one that was read */
export async function replaceProviderKey(
  tx: Tx,
  { developerId }: Tenant,
  { id, dataKey }: Pick<ProviderRow, 'id' | 'dataKey'>,
  next: { readonly dataKey: string; readonly keyId: string },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('vaultProviders')
    .set(next)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('dataKey', '=', dataKey)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
