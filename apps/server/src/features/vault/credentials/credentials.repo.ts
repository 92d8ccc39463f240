import { type Insertable, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { tellerOf } from '../../../platform/db/personal-records.ts';
import type { VaultCredentials } from '../../../platform/db/types.gen.ts';
import type { PagePosition } from '../../../platform/paging.ts';

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

/** Deletes all credentials of a principal, connections too. */
export function deleteCredentialRowsOf(tx: Tx, { developerId }: Tenant, principalId: string) {
  return tx
    .deleteFrom('vaultCredentials')
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .returning(['id', 'principalId', 'service'])
    .execute();
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

export const tellCredentials = tellerOf('vault_credential', 'vault_credentials', [
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
