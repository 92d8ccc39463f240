import { sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { VaultCredentials } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import { providersOf } from '../providers/providers.queries.ts';
import type { CredentialRow } from './credentials.repo.ts';

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

/** Connections that a crash, or the end of their account, left out of use. */
export function listDisconnectingAcrossTenants(db: Executor, before: Date, limit: number) {
  return db
    .selectFrom('vaultCredentials')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'vaultCredentials.developerId')
    .selectAll('vaultCredentials')
    .select('developer.closedAt')
    .where('disconnectingAt', '<=', before)
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
