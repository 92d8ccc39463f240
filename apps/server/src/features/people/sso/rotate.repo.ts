import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { ConnectionRow } from './sso.repo.ts';

/** The first key id after another that seals a connection's secret, by one probe of the index. */
export async function nextConnectionKeyAcrossTenants(
  db: Executor,
  after: string,
): Promise<string | undefined> {
  const next = await db
    .selectFrom('ssoConnections')
    .select('keyId')
    .where('keyId', '>', after)
    .orderBy('keyId')
    .limit(1)
    .executeTakeFirst();
  return next?.keyId ?? undefined;
}

/** Connections whose secrets a key seals, after a position in the order of their ids. */
export function listConnectionsUnderAcrossTenants(
  db: Executor,
  keyId: string,
  after: Pick<ConnectionRow, 'developerId' | 'id'>,
  limit: number,
): Promise<ConnectionRow[]> {
  return db
    .selectFrom('ssoConnections')
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

/**
 * Replaces the data key, which concerns no login under way.
 * @returns whether the data key was still the one that was read
 */
export async function replaceConnectionKey(
  tx: Tx,
  { developerId }: Tenant,
  { id, dataKey }: Pick<ConnectionRow, 'id' | 'dataKey'>,
  next: { readonly dataKey: string; readonly keyId: string },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('ssoConnections')
    .set(next)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('dataKey', '=', dataKey)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
