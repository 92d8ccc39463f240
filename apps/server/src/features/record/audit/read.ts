import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { parseStored } from '../../../platform/db/open-database.ts';
import { notFound } from '../../../platform/errors.ts';
import { mustBeSpan, pageOf } from '../../../platform/paging.ts';
import type { Catalogue } from '../events/index.ts';
import type { EntryRow } from './audit.queries.ts';
import { findEntry, findMembersNamed, listEntryRows } from './audit.repo.ts';
import type { AuditEntry, EntryQuery } from './audit.schema.ts';

interface ReadDeps {
  readonly db: Executor;
  readonly catalogue: Catalogue;
}

/** @throws NOT_FOUND for an unknown entry and for an entry of another developer alike. */
export async function getEntry(deps: ReadDeps, caller: Caller, id: string): Promise<AuditEntry> {
  const row = await findEntry(deps.db, caller, id);
  if (!row) throw notFound();
  return { ...toEntry(deps, row), ...(await namesIn(deps, caller, [row]))(row) };
}

/** @returns the JSON text of the answer, because nothing here reads the metadata, which may take long */
export async function listEntries(deps: ReadDeps, caller: Caller, query: EntryQuery): Promise<string> {
  mustBeSpan(query);
  const read = await listEntryRows(deps.db, caller, query, deps.catalogue.reserved);
  const namesOf = await namesIn(deps, caller, read.rows);
  const { page, nextCursor } = pageOf(
    read,
    ({ seq }) => seq,
    (row) => textOf(deps, row, namesOf(row)),
  );
  return `{"entries":[${page.join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`;
}

/** An entry as every reader with a key sees it. */
export function toEntry({ catalogue }: Pick<ReadDeps, 'catalogue'>, row: EntryRow): AuditEntry {
  return { ...toLink(row), source: sourceOf(catalogue, row) };
}

/** An entry as the chain hashes it. */
export function toLink(row: EntryRow): Omit<AuditEntry, 'source'> {
  return { ...withoutMetadata(row), metadata: Object(parseStored(row.metadata)) };
}

/** The JSON text of an entry. */
function textOf({ catalogue }: Pick<ReadDeps, 'catalogue'>, row: EntryRow, names: Names): string {
  const source = sourceOf(catalogue, row);
  const beside = { ...withoutMetadata(row), source, ...names };
  return `${JSON.stringify(beside).slice(0, -1)},"metadata":${row.metadata}}`;
}

type Names = Pick<AuditEntry, 'actorName' | 'actorEmail'>;

/** Who acted, where a member did. The chain has their id only, so that it holds when a person leaves. */
async function namesIn(
  { db, catalogue }: ReadDeps,
  { tenant, agentIds, member: reader }: Caller,
  rows: readonly EntryRow[],
): Promise<(row: EntryRow) => Names> {
  const acting = new Map<string, string>();
  for (const { id, action, metadata } of agentIds === null ? rows : []) {
    if (!metadata.includes('"member:') || !catalogue.isReserved(action)) continue; // few are parsed
    const actor = String(Object(parseStored(metadata)).actor);
    if (actor.startsWith('member:')) acting.set(id, actor.slice('member:'.length));
  }
  if (acting.size === 0) return () => ({});
  const found = await findMembersNamed(db, tenant, [...new Set(acting.values())]);
  const members = new Map(found.map((each) => [each.id, each]));
  return ({ id }) => {
    const memberId = acting.get(id);
    if (memberId === undefined) return {};
    const { name, email } = members.get(memberId) ?? { name: 'Removed member', email: null };
    const mayRead = reader?.capabilities.includes('read') === true; // as the list of members asks for
    return { actorName: name, ...(mayRead && email !== null && { actorEmail: email }) };
  };
}

const sourceOf = (catalogue: Catalogue, { action }: EntryRow) =>
  catalogue.isReserved(action) ? 'service' : 'developer';

function withoutMetadata(row: EntryRow): Omit<AuditEntry, 'source' | 'metadata'> {
  return {
    entryId: row.id,
    id: row.id,
    seq: Number(row.seq),
    developerId: row.developerId,
    agentId: row.agentId,
    agentDid: row.agentDid,
    grantId: row.grantId,
    principalId: row.principalId,
    action: row.action,
    status: row.status,
    purpose: row.purpose,
    timestamp: row.at.toISOString(),
    prevHash: row.prevHash?.toString('hex') ?? null,
    hash: row.hash.toString('hex'),
    salt: row.salt,
    requestId: row.requestId,
    ...(row.parts !== null && { erased: true }),
  };
}
