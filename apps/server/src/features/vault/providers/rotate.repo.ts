import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { ProviderRow } from './providers.repo.ts';

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
