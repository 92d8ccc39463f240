import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type { VaultCredentials } from '../../../platform/db/types.gen.ts';
import type { PagePosition } from '../../../platform/paging.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import { providersOf } from '../providers/providers.queries.ts';

export type CredentialRow = Selectable<VaultCredentials>;
type NewRow = Omit<Insertable<VaultCredentials>, 'developerId' | 'version'>;

/** The columns that are shown. Sealed values stay in the database. */
const SHOWN = [
  'id',
  'principalId',
  'service',
  'credentialType',
  'tokenExpiresAt',
  'metadata',
  'keyId',
  'refreshStatus',
  'lastExchangedAt',
  'proxy',
  'createdAt',
  'updatedAt',
  'providerId',
  'connection',
  'connectionStatus',
  'connectionReason',
] as const;

/** The unique index of services that differ in case alone. */
export const FOLDED_INDEX = 'vault_credentials_folded';

/**
 * Inserts a credential, or replaces the one of the same principal and service, which keeps its id and its time of
 * creation. The later of two at once wins.
 */
export function upsertCredential(tx: Tx, { developerId }: Tenant, row: NewRow): Promise<CredentialRow> {
  const { id: _, createdAt: __, principalId: ___, service: ____, ...replacing } = row;
  return tx
    .insertInto('vaultCredentials')
    .values({ ...row, developerId, version: 1 })
    .onConflict((conflict) =>
      conflict.columns(['developerId', 'principalId', 'service']).doUpdateSet({
        ...replacing,
        refreshFailures: 0,
        refreshAfter: null,
        leaseId: null,
        leasedUntil: null,
        version: sql`vault_credentials.version + 1`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

interface Filter {
  readonly principalId?: string;
  readonly service?: string;
}

function credentialsBy(db: Executor, { developerId }: Tenant, { principalId, service }: Filter) {
  let some = db
    .selectFrom('vaultCredentials')
    .where('developerId', '=', developerId)
    .where('disconnectingAt', 'is', null);
  if (principalId !== undefined) some = some.where('principalId', '=', principalId);
  if (service !== undefined) some = some.where('service', '=', service);
  return some;
}

interface Named {
  readonly principalId: string;
  readonly service: string;
}

/** Locks the credential of a principal for a service. @returns undefined when there is none */
export function lockNamed(tx: Tx, { developerId }: Tenant, { principalId, service }: Named) {
  return tx
    .selectFrom('vaultCredentials')
    .select(['id', 'proxy'])
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .where('service', '=', service)
    .forUpdate()
    .executeTakeFirst();
}

export const isStored = async (db: Executor, tenant: Tenant, { principalId, service }: Named) =>
  (await credentialsBy(db, tenant, { principalId, service }).select('id').executeTakeFirst()) !== undefined;

const withoutSecrets = (db: Executor, tenant: Tenant, filter: Filter) =>
  credentialsBy(db, tenant, filter)
    .select(SHOWN)
    .select(sql<boolean>`refresh_token is not null`.as('hasRefreshToken'));

/** Newest first: ids begin with the time, and a replaced credential keeps its id. */
export function listCredentialRows(
  db: Executor,
  tenant: Tenant,
  filter: Filter,
  { pageSize, offset, cursor }: PagePosition,
) {
  const all = withoutSecrets(db, tenant, filter);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc').offset(offset), pageSize);
}

export type ShownRow = Awaited<ReturnType<typeof listCredentialRows>>['rows'][number];

export async function countCredentials(db: Executor, tenant: Tenant, filter: Filter): Promise<number> {
  const counted = credentialsBy(db, tenant, filter).select((eb) => eb.fn.countAll<string>().as('total'));
  return Number((await counted.executeTakeFirstOrThrow()).total);
}

export const findShownCredential = (db: Executor, tenant: Tenant, id: string) =>
  withoutSecrets(db, tenant, {}).where('id', '=', id).executeTakeFirst();

/** Deletes a credential with its data key, without which no copy of its values opens. */
export function deleteCredentialRow(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
): Promise<CredentialRow | undefined> {
  return tx
    .deleteFrom('vaultCredentials')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('disconnectingAt', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Why a credential is out of use whose principal is gone. */
export const OFFBOARDED = 'principal_offboarded';

/**
 * Deletes the credentials of a principal. Those of which an upstream is to be told are taken out of use, until the job for
 * disconnections has told it.
 */
export async function deleteCredentialRowsOf(tx: Tx, { developerId }: Tenant, principalId: string, at: Date) {
  const untold = await tx
    .updateTable('vaultCredentials')
    .set({ disconnectingAt: at, connectionReason: OFFBOARDED, leaseId: null, leasedUntil: null })
    .set({ version: sql<string>`version + 1` })
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .where('disconnectingAt', 'is', null)
    .where(({ or, eb, and }) =>
      or([
        eb('providerId', 'is not', null),
        and([eb('refreshToken', 'is not', null), sql<boolean>`refresh ->> 'revocationEndpoint' is not null`]),
      ]),
    )
    .returning(['id', 'principalId', 'service'])
    .execute();
  const deleted = await tx
    .deleteFrom('vaultCredentials')
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .where('disconnectingAt', 'is', null)
    .returning(['id', 'principalId', 'service'])
    .execute();
  return { untold, deleted };
}

/** Deletes all credentials of an account. */
export function deleteStoredRows(tx: Tx, { developerId }: Tenant) {
  return tx
    .deleteFrom('vaultCredentials')
    .where('developerId', '=', developerId)
    .where('providerId', 'is', null)
    .returning(['id', 'principalId', 'service'])
    .execute();
}

/** Erases rows of a closed account. */
export const eraseCredentials = eraserOf('vault_credentials');

/** The credential of a principal for a service, without its secrets. */
export const findShownCredentialOf = (db: Executor, tenant: Tenant, named: Named) =>
  withoutSecrets(db, tenant, named).executeTakeFirst();

export const tellCredentials = exportOf('vault_credential', 'vault_credentials', [
  ...[
    'service',
    'credential_type',
    'token_expires_at',
    'metadata',
    'last_exchanged_at',
    'created_at',
    'updated_at',
  ],
]);

/** Marks a connection that needs its person again. @returns whether it was not marked so before */
export async function endConnection(
  tx: Tx,
  { developerId }: Tenant,
  { id, version }: Pick<CredentialRow, 'id' | 'version'>,
  change: Pick<Updateable<VaultCredentials>, 'connectionReason' | 'updatedAt'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('vaultCredentials')
    .set({
      ...change,
      connectionStatus: 'reauthorization_required',
      version: sql<string>`version + 1`,
    })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('version', '=', version)
    .where('connectionStatus', '=', 'connected')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

interface Disconnecting {
  readonly id: string;
  /** The person whose account it is. Without it, the developer disconnects. */
  readonly principalId?: string;
  readonly at: Date;
}

/** Takes a connection out of use. @returns undefined when there is none in use */
export function beginDisconnecting(
  tx: Tx,
  { developerId }: Tenant,
  { id, principalId, at }: Disconnecting,
): Promise<CredentialRow | undefined> {
  const some = tx
    .updateTable('vaultCredentials')
    .set({ disconnectingAt: at, leaseId: null, leasedUntil: null, version: sql<string>`version + 1` })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('providerId', 'is not', null)
    .where('disconnectingAt', 'is', null);
  const own = principalId === undefined ? some : some.where('principalId', '=', principalId);
  return own.returningAll().executeTakeFirst();
}

/** Takes all connections of an account out of use. */
export async function beginDisconnectingAll(tx: Tx, { developerId }: Tenant, at: Date): Promise<void> {
  await tx
    .updateTable('vaultCredentials')
    .set({ disconnectingAt: at, leaseId: null, leasedUntil: null, version: sql<string>`version + 1` })
    .where('developerId', '=', developerId)
    .where('providerId', 'is not', null)
    .where('disconnectingAt', 'is', null)
    .execute();
}

/** Deletes a connection that is out of use. @returns whether it was there still */
export async function deleteDisconnected(
  tx: Tx,
  { developerId }: Tenant,
  { id, version }: Pick<CredentialRow, 'id' | 'version'>,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('vaultCredentials')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('version', '=', version)
    .where('disconnectingAt', 'is not', null)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Credentials that are out of use because their principal or their account is gone, or that a crash left so. */
export function listDisconnectingAcrossTenants(db: Executor, before: Date, limit: number) {
  return db
    .selectFrom('vaultCredentials')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'vaultCredentials.developerId')
    .selectAll('vaultCredentials')
    .select('developer.closedAt')
    .where('disconnectingAt', 'is not', null)
    .where(({ or, eb }) => or([eb('disconnectingAt', '<=', before), eb('connectionReason', '=', OFFBOARDED)]))
    .orderBy('disconnectingAt')
    .limit(limit)
    .execute();
}

/** A principal's connections, newest first. */
export function listConnectionRows(
  db: Executor,
  tenant: Tenant,
  principalId: string,
  { cursor, limit }: { readonly cursor?: string; readonly limit: number },
) {
  const all = db
    .selectFrom('vaultCredentials as credential')
    .innerJoin(providersOf(db, tenant), 'provider.providerId', 'credential.providerId')
    .where('credential.developerId', '=', tenant.developerId)
    .where('credential.principalId', '=', principalId)
    .where('credential.disconnectingAt', 'is', null)
    .select(['credential.id', 'credential.service', 'credential.providerId', 'credential.connection'])
    .select(['credential.connectionStatus', 'credential.connectionReason', 'credential.lastExchangedAt'])
    .select('provider.providerName');
  const page = cursor ? all.where('credential.id', '<', cursor) : all;
  return readPage(db, page.orderBy('credential.id', 'desc'), limit);
}

/** The origins of a service's profile, and whether it leaves exchange open, as a credential is stored with them. */
export async function frozenProfile(db: Executor, { developerId }: Tenant, service: string) {
  const row = await db
    .selectFrom('vaultProxyProfiles')
    .select(['profile', 'proxyOnly'])
    .where('developerId', '=', developerId)
    .where('service', '=', service)
    .executeTakeFirst();
  if (!row) return undefined;
  const origins = Object.values(Object(row.profile).upstreams ?? {}).map(String);
  return { origins, exchange: row.proxyOnly ? 'proxy_only' : 'allowed' } as const;
}
