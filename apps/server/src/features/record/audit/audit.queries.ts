import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import {
  type OrderedList,
  statementPortionReader,
  textPortionReader,
} from '../../../platform/db/page-rows.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import type { AuditEntries } from '../../../platform/db/types.gen.ts';

/** An entry as a page reads it. */
export interface EntryRow extends Omit<Selectable<AuditEntries>, 'metadata'> {
  /** The JSON text that Postgres writes. Many answers hold it as it is: it may take long to read. */
  readonly metadata: string;
}

/** The columns of an `EntryRow`. */
export const entryColumns = [
  'entry.developerId',
  'entry.id',
  'entry.seq',
  'entry.agentId',
  'entry.agentDid',
  'entry.grantId',
  'entry.principalId',
  'entry.action',
  'entry.status',
  'entry.purpose',
  'entry.at',
  'entry.prevHash',
  'entry.hash',
  'entry.salt',
  'entry.requestId',
  'entry.parts',
  sql<string>`entry.metadata::text`.as('metadata'),
] as const;

/**
 * A list of `EntryRow`s. Postgres sorts and cuts the entries as they are stored, and writes the metadata of each when it
 * is read. It would otherwise write that of every entry before it sorts them, however few of them are read.
 * @param entries all columns of entries in their order
 */
export const entryRows = (db: Executor, entries: OrderedList<Selectable<AuditEntries>>) => ({
  limit: (most: number) => db.selectFrom(entries.limit(most).as('entry')).select(entryColumns),
});

/** Reads a portion of a list of entries, for work that reads the list to its end. */
export const readEntries = (db: Executor, entries: OrderedList<Selectable<AuditEntries>>) =>
  readPortionOfEntries(db, entryRows(db, entries));

const BYTES = 'octet_length(page.metadata) + coalesce(octet_length(page.parts::text), 0)';
const readPortionOfEntries = textPortionReader(BYTES);

const ENTRIES = `select developer_id as "developerId", id, seq, agent_id as "agentId", agent_did as "agentDid",
  grant_id as "grantId", principal_id as "principalId", action, status, purpose, at, prev_hash as "prevHash", hash, salt,
  request_id as "requestId", parts, metadata::text as metadata from audit_entries where developer_id = $1`;

/** The beginning of a part of a chain, as much of it as is read at once. */
export const listEntriesFrom = statementPortionReader<EntryRow, [fromSeq: number, toSeq: number]>(
  'list_entries_from',
  `${ENTRIES} and seq >= $2 and seq <= $3 order by seq`,
  BYTES,
);

const entryById = lookUp<EntryRow, [developerId: string, id: string]>(
  'find_entry_by_id',
  `${ENTRIES} and id = $2`,
);
const entryBySeq = lookUp<EntryRow, [developerId: string, seq: number]>(
  'find_entry_by_seq',
  `${ENTRIES} and seq = $2`,
);

/** An entry by its id or number. */
export async function findEntryOf(
  db: Executor,
  { developerId }: Tenant,
  wanted: { readonly entryId: string } | { readonly seq: number },
): Promise<EntryRow | undefined> {
  const [row] =
    'seq' in wanted
      ? await entryBySeq(db, developerId, wanted.seq)
      : await entryById(db, developerId, wanted.entryId);
  return row;
}

export function entriesOf(db: Executor, { developerId }: Tenant) {
  return db.selectFrom('auditEntries as entry').where('entry.developerId', '=', developerId);
}

/** The newest entry of a chain. */
export function findHead(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('auditHeads')
    .select(['seq', 'hash'])
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
}

/** The newest entry of an action about a grant. */
export const findEntryOfGrant = (db: Executor, tenant: Tenant, grantId: string, action: string) =>
  entriesOf(db, tenant)
    .select(['entry.id', 'entry.seq', 'entry.hash', 'entry.at'])
    .select(['entry.agentId', 'entry.agentDid', 'entry.principalId', 'entry.purpose'])
    .where('entry.grantId', '=', grantId)
    .where('entry.action', '=', action)
    .orderBy('entry.seq', 'desc')
    .limit(1)
    .executeTakeFirst();

/** A contiguous part of a chain, both ends included; an empty part ends before it begins. */
export interface SeqRange {
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** The part of the chain that was written in a span of time. Time never goes back along a chain. */
export async function findSeqRange(
  db: Executor,
  { developerId }: Tenant,
  { since, until }: { since?: string; until?: string },
): Promise<SeqRange> {
  const { seq, first, next } = await db
    .selectFrom('auditHeads')
    .select([
      'seq',
      (since ? firstSeqSince({ developerId }, new Date(since)) : sql<string>`1`).as('first'),
      (until ? firstSeqSince({ developerId }, new Date(until)) : sql<string>`seq + 1`).as('next'),
    ])
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
  return { fromSeq: Number(first), toSeq: Math.min(Number(next) - 1, Number(seq)) };
}

interface Span {
  readonly since: string;
  readonly until: string;
  /** The number of an entry. */
  readonly after: string;
  readonly limit: number;
}

/** Entries about authorization requests, asked and refused ones, in the order of the chain. */
export function listAskedRequests(
  db: Executor,
  { developerId }: Tenant,
  { since, until, after, limit }: Span,
) {
  return db
    .selectFrom('auditEntries')
    .select(['seq', 'id', 'agentId', 'principalId', 'purpose', 'at', 'metadata'])
    .where('developerId', '=', developerId)
    .where('action', 'in', ['authorization.requested', 'authorization.blocked'])
    .where('seq', '>=', firstSeqSince({ developerId }, new Date(since)))
    .where('seq', '<', firstSeqSince({ developerId }, new Date(until)))
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** The answers to calls of tools, in the order of the chain. */
export function listEnforcedCalls(
  db: Executor,
  { developerId }: Tenant,
  { since, until, after, limit }: Span,
) {
  return db
    .selectFrom('auditEntries')
    .select(['seq', 'id', 'agentId', 'grantId', 'principalId', 'at', 'metadata'])
    .where('developerId', '=', developerId)
    .where('action', '=', 'tool.enforce')
    .where('seq', '>=', firstSeqSince({ developerId }, new Date(since)))
    .where('seq', '<', firstSeqSince({ developerId }, new Date(until)))
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** The number of the chain's first entry that is not older than a time, or that after the last. */
export const firstSeqSince = ({ developerId }: Tenant, since: Date) =>
  sql<string>`(select audit_first_seq(${developerId}, ${since}))`;

/** The time of an agent's first entry. The caller names the agent by a column: `count.agentId`. */
export const firstEntryOf = (db: Executor, { developerId }: Tenant, agentId: RawBuilder<string>) =>
  db
    .selectFrom('auditEntries')
    .select('at')
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .orderBy('seq')
    .limit(1);

/** The chains of all developers, with the number of the last entry, to be joined by `head.developerId`. */
export const headsAcrossTenants = (db: Executor) =>
  db.selectFrom('auditHeads').select(['developerId', 'seq']).as('head');
