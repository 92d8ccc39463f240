import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { mustBeSpan, pageOf } from '../../../platform/paging.ts';
import type { Catalogue } from '../events/index.ts';
import { type EntryRow, findEntry, listEntryRows } from './audit.repo.ts';
import type { AuditEntry, EntryPage, EntryQuery } from './audit.schema.ts';

interface ReadDeps {
  readonly db: Executor;
  readonly catalogue: Catalogue;
}

/** @throws NOT_FOUND for an unknown entry and for an entry of another developer alike. */
export async function getEntry(deps: ReadDeps, caller: Caller, id: string): Promise<AuditEntry> {
  const row = await findEntry(deps.db, caller, id);
  if (!row) throw notFound();
  return toEntry(deps, row);
}

export async function listEntries(deps: ReadDeps, caller: Caller, query: EntryQuery): Promise<EntryPage> {
  mustBeSpan(query);
  const rows = await listEntryRows(deps.db, caller, query, deps.catalogue.reserved);
  const { page, nextCursor } = pageOf(
    rows,
    ({ seq }) => seq,
    (row) => toEntry(deps, row),
  );
  return { entries: page, nextCursor };
}

/** An entry as every reader with a key sees it. */
export function toEntry({ catalogue }: Pick<ReadDeps, 'catalogue'>, row: EntryRow): AuditEntry {
  return { ...toLink(row), source: catalogue.isReserved(row.action) ? 'service' : 'developer' };
}

/** An entry as the chain hashes it. */
export function toLink({
  at,
  prevHash,
  hash,
  seq,
  metadata,
  parts,
  ...row
}: EntryRow): Omit<AuditEntry, 'source'> {
  return {
    entryId: row.id,
    ...row,
    ...(parts !== null && { erased: true }),
    seq: Number(seq),
    metadata: Object(metadata),
    timestamp: at.toISOString(),
    prevHash: prevHash?.toString('hex') ?? null,
    hash: hash.toString('hex'),
  };
}
