import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { allServiceActions, isServiceAction } from '../events/index.ts';
import { type EntryRow, findEntry, listEntryRows } from './audit.repo.ts';
import type { AuditEntry, EntryPage, EntryQuery } from './audit.schema.ts';

interface ReadDeps {
  readonly db: Executor;
}

/** @throws NOT_FOUND for an unknown entry and for a foreign one alike. */
export async function getEntry(deps: ReadDeps, { tenant }: Caller, id: string): Promise<AuditEntry> {
  const row = await findEntry(deps.db, tenant, id);
  if (!row) throw notFound();
  return toEntry(row);
}

export async function listEntries(deps: ReadDeps, caller: Caller, query: EntryQuery): Promise<EntryPage> {
  const { since, until, limit } = query;
  if (since && until && new Date(since) >= new Date(until)) throw badField('until', 'too_small');
  const rows = await listEntryRows(deps.db, caller.tenant, query, allServiceActions());
  const page = rows.slice(0, limit);
  const last = rows.length > page.length ? page.at(-1) : undefined;
  return { entries: page.map(toEntry), nextCursor: last?.seq ?? null };
}

export function toEntry({ at, prevHash, hash, seq, metadata, ...row }: EntryRow): AuditEntry {
  return {
    entryId: row.id,
    ...row,
    seq: Number(seq),
    metadata: Object(metadata),
    timestamp: at.toISOString(),
    prevHash: prevHash?.toString('hex') ?? null,
    hash: hash.toString('hex'),
    source: isServiceAction(row.action) ? 'service' : 'developer',
  };
}
