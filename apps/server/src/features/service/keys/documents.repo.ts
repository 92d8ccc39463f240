import type { Executor } from '../../../platform/db/db.ts';

/** The times at which the service first had each of its documents under a DID. */
export async function listDocumentTimes(
  db: Executor,
  did: string,
): Promise<{ sha256: string; firstMadeAt: Date }[]> {
  return db
    .selectFrom('serviceDidDocuments')
    .select(['sha256', 'firstMadeAt'])
    .where('did', '=', did)
    .execute();
}

/** Keeps the time of a document that is not known yet. */
export async function keepDocumentTime(
  db: Executor,
  row: { readonly did: string; readonly sha256: string; readonly firstMadeAt: Date },
): Promise<void> {
  await db
    .insertInto('serviceDidDocuments')
    .values(row)
    .onConflict((known) => known.doNothing())
    .execute();
}
