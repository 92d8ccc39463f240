import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { CredentialRow } from './credentials.repo.ts';

/** The first key id after another that seals a credential, by one probe of the index. */
export async function nextKeyIdAcrossTenants(db: Executor, after: string): Promise<string | undefined> {
  const next = await db
    .selectFrom('vaultCredentials')
    .select('keyId')
    .where('keyId', '>', after)
    .orderBy('keyId')
    .limit(1)
    .executeTakeFirst();
  return next?.keyId;
}

/** Credentials that a key seals, after a position in the order of their ids. */
export function listSealedUnderAcrossTenants(
  db: Executor,
  keyId: string,
  after: { readonly developerId: string; readonly id: string },
  limit: number,
) {
  return db
    .selectFrom('vaultCredentials')
    .select(['developerId', 'id', 'principalId', 'service', 'dataKey'])
    .where('keyId', '=', keyId)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('developerId', 'id'), '>', tuple(after.developerId, after.id)),
    )
    .orderBy('developerId')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Credentials under keys other than this one. */
export async function countSealedOtherwiseAcrossTenants(db: Executor, keyId: string): Promise<number> {
  const counted = await db
    .selectFrom('vaultCredentials')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where((eb) => eb.or([eb('keyId', '<', keyId), eb('keyId', '>', keyId)]))
    .executeTakeFirstOrThrow();
  return Number(counted.count);
}

/** @returns whether the data key was still the one that was read; a store in between has made a new one */
export async function replaceDataKey(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  before: string,
  sealed: Pick<CredentialRow, 'dataKey' | 'keyId'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('vaultCredentials')
    .set(sealed)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('dataKey', '=', before)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
