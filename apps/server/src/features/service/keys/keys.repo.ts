import { type Insertable, type Selectable, sql } from 'kysely';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { SigningKeys } from '../../../platform/db/types.gen.ts';
import type { KeyTurn } from './stored.rules.ts';

export type SigningKeyRow = Selectable<SigningKeys>;
export type NewSigningKey = Insertable<SigningKeys>;

/** One transaction at a time changes the keys. Reads need no lock. */
export async function lockKeys(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('signing-keys', 0))`.execute(tx);
}

/** All keys that are not removed, with their sealed private halves. */
export function listKeyRows(db: Executor): Promise<SigningKeyRow[]> {
  return db.selectFrom('signingKeys').selectAll().where('state', '<>', 'removed').orderBy('kid').execute();
}

/** The keys that were removed last. */
export function listRemovedRows(db: Executor, limit: number): Promise<SigningKeyRow[]> {
  return db
    .selectFrom('signingKeys')
    .selectAll()
    .where('state', '=', 'removed')
    .orderBy('removedAt', 'desc')
    .limit(limit)
    .execute();
}

export async function findKnownKids(db: Executor, kids: readonly string[]): Promise<string[]> {
  if (kids.length === 0) return [];
  const rows = await db.selectFrom('signingKeys').select('kid').where('kid', 'in', kids).execute();
  return rows.map(({ kid }) => kid);
}

export async function insertKey(tx: Tx, key: NewSigningKey): Promise<void> {
  await tx.insertInto('signingKeys').values(key).execute();
}

/** Changes the state of a key, and erases the private half of a key that will not sign again. */
export async function turnKey(tx: Tx, { kid, to }: KeyTurn, at: Date): Promise<void> {
  const erased = { dataKey: null, privateSealed: null };
  const changes = {
    pending: {},
    active: { activatedAt: at },
    retired: { ...erased, retiredAt: at },
    removed: { ...erased, removedAt: at },
  };
  await tx
    .updateTable('signingKeys')
    .set({ state: to, ...changes[to] })
    .where('kid', '=', kid)
    .execute();
}

/** Keeps a data key that another vault key seals now, unless the private half was erased meanwhile. */
export async function replaceDataKey(db: Executor, kid: string, from: string, to: string): Promise<void> {
  await db
    .updateTable('signingKeys')
    .set({ dataKey: to })
    .where('kid', '=', kid)
    .where('dataKey', '=', from)
    .execute();
}

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
