import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage, readPortion } from '../../../platform/db/page-rows.ts';
import type { AuditErased } from '../../../platform/db/types.gen.ts';
import { entriesOf, entryColumns, entryRows, type SeqRange } from './audit.queries.ts';

/** The entries of a part of the chain that may be erased: about a person, or all of them. */
export function listErasable(
  db: Executor,
  tenant: Tenant,
  { fromSeq, toSeq }: SeqRange,
  principalId: string | null,
  limit: number,
) {
  const part = entriesOf(db, tenant)
    .selectAll()
    .where('entry.seq', '>=', String(fromSeq))
    .where('entry.seq', '<=', String(toSeq))
    .where('entry.parts', 'is', null)
    .orderBy('entry.seq');
  if (principalId === null) return readPage(db, entryRows(db, part), limit);
  const isAbout = sql<boolean>`(principal_id = ${principalId} or metadata ->> 'principalId' = ${principalId}
    or metadata ->> 'userId' = ${principalId} or metadata ->> 'userName' = ${principalId}
    or metadata -> 'principalIds' @> to_jsonb(${principalId}::text)
    or metadata -> 'policy' ->> 'principalId' = ${principalId}
    or metadata #>> '{changes,principalId,from}' = ${principalId}
    or metadata #>> '{changes,principalId,to}' = ${principalId})`;
  return readPage(db, entryRows(db, part.where(isAbout)), limit);
}

export interface Erasing {
  readonly seq: string;
  readonly parts: readonly string[];
  readonly metadata: object;
  /** In hex. */
  readonly leaf: string;
}

/** Names the entries as erased, and then erases them: the trigger lets no other update pass. */
export async function eraseRows(
  tx: Tx,
  { developerId }: Tenant,
  erasureId: string,
  rows: readonly Erasing[],
): Promise<void> {
  const json = JSON.stringify(rows);
  await sql`insert into audit_erased (developer_id, seq, erasure_id, leaf)
    select ${developerId}, r.seq, ${erasureId}, decode(r.leaf, 'hex')
    from jsonb_to_recordset(${json}::jsonb) as r (seq bigint, leaf text)`.execute(tx);
  await sql`update audit_entries e set parts = r.parts, metadata = r.metadata, salt = null, principal_id = null
    from jsonb_to_recordset(${json}::jsonb) as r (seq bigint, parts text[], metadata jsonb)
    where e.developer_id = ${developerId} and e.seq = r.seq`.execute(tx);
}

/** The erased entries of one erasure, in the order of the chain. */
export function listErasedOf(
  db: Executor,
  { developerId }: Tenant,
  erasureId: string,
  after: string,
  limit: number,
): Promise<Pick<Selectable<AuditErased>, 'seq' | 'leaf'>[]> {
  return db
    .selectFrom('auditErased')
    .select(['seq', 'leaf'])
    .where('developerId', '=', developerId)
    .where('erasureId', '=', erasureId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** The beginning of the erased entries of a part of the chain, each with the erasure that names it, or with none. */
export function listErasedRange(db: Executor, tenant: Tenant, { fromSeq, toSeq }: SeqRange) {
  const range = entriesOf(db, tenant)
    .leftJoin('auditErased as r', (join) =>
      join.onRef('r.developerId', '=', 'entry.developerId').onRef('r.seq', '=', 'entry.seq'),
    )
    .selectAll('entry')
    .select(['r.erasureId', 'r.leaf'])
    .where('entry.seq', '>=', String(fromSeq))
    .where('entry.seq', '<=', String(toSeq))
    .where('entry.parts', 'is not', null)
    .orderBy('entry.seq');
  const rows = (most: number) => db.selectFrom(range.limit(most).as('entry')).select(entryColumns);
  return readPortion(db, { limit: (most) => rows(most).select(['entry.erasureId', 'entry.leaf']) });
}

/** The entries about finished erasures in a part of the chain. */
export function listErasureEntries(db: Executor, { developerId }: Tenant, { fromSeq, toSeq }: SeqRange) {
  return db
    .selectFrom('auditEntries')
    .select(['id', 'metadata'])
    .where('developerId', '=', developerId)
    .where('action', '=', 'audit.erased')
    .where('seq', '>=', String(fromSeq))
    .where('seq', '<=', String(toSeq))
    .orderBy('seq')
    .execute();
}

/** Whether the chain has the entry about an erasure. */
export async function isToldInChain(
  db: Executor,
  { developerId }: Tenant,
  erasureId: string,
): Promise<boolean> {
  const told = await db
    .selectFrom('auditEntries')
    .select('seq')
    .where('developerId', '=', developerId)
    .where('action', '=', 'audit.erased')
    .where(sql<boolean>`metadata ->> 'erasureId' = ${erasureId}`)
    .limit(1)
    .executeTakeFirst();
  return told !== undefined;
}

/** Whether an erasure still runs: its entry in the chain is written at its end. */
export async function isUnfinished(db: Executor, { developerId }: Tenant, id: string): Promise<boolean> {
  const erasure = await db
    .selectFrom('auditErasures')
    .select('id')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('finishedAt', 'is', null)
    .executeTakeFirst();
  return erasure !== undefined;
}
