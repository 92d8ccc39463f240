import { type SqlBool, sql } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import { tellAfterCommit } from '../../../platform/db/commit-effects.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { type ChainPosition, type Records, writeHot } from '../../../platform/db/hot-writes.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp } from '../../../platform/db/statement.ts';
import { entriesOf, entryColumns, entryRows, firstSeqSince } from './audit.queries.ts';
import type { EntryQuery } from './audit.schema.ts';

/**
 * An entry's line without the part that the chain's head adds, and the event of the same act, if there is
 * one.
 */
export interface PreparedAct {
  readonly prefix: string;
  readonly suffix: string;
  readonly requestId: string;
  readonly type?: string;
  readonly eventId?: string;
  /** The agent that the event names: the entry's, and of an event without an entry that of its data. */
  readonly agentId?: string;
  readonly envelope?: string;
  /** The patterns by which an endpoint may have subscribed to the event. */
  readonly patterns?: readonly string[];
}

export async function insertHead(tx: Tx, { developerId }: Tenant): Promise<void> {
  await tx.insertInto('auditHeads').values({ developerId }).execute();
}

/**
 * One statement locks the head, writes and, outside a transaction, commits, so the lock waits for no round
 * trip. In a transaction, call it last.
 */
export function writeActs(
  db: Executor,
  { developerId }: Tenant,
  at: Date,
  records: Records,
): Promise<ChainPosition[]> {
  return records.write(db, (json) => sql`select * from record_acts(${developerId}, ${at}, ${json}::jsonb)`);
}

/** Writes events without entries, for the streams and for the subscribed endpoints. */
export async function writeEvents(tx: Tx, { developerId }: Tenant, at: Date, events: Records): Promise<void> {
  await events.write(
    tx,
    (json) => sql`select count(*) from record_acts(${developerId}, ${at}, ${json}::jsonb)`,
  );
}

/** As `writeEvents`, for the streams alone. */
export async function writeStreamEvent(
  tx: Tx,
  { developerId }: Tenant,
  at: Date,
  events: Records,
): Promise<void> {
  await events.write(
    tx,
    (json) => sql`select count(*) from audit_append(${developerId}, ${at}, ${json}::jsonb)`,
  );
}

/**
 * Appends an entry of a developer and counts it against the quota of the calendar month: a hot write.
 * @param monthLimit null means no limit
 * @returns nothing when the month has no room for it
 */
export async function appendCounted(
  db: Executor,
  tenant: Tenant,
  at: Date,
  { id, entry, monthLimit }: { id: string; entry: PreparedAct; monthLimit: number | null },
): Promise<ChainPosition | undefined> {
  const acts = JSON.stringify([{ ...entry, monthLimit: monthLimit ?? -1 }]);
  const { position } = await writeHot(db, { tenant, at, acts, wantedId: id });
  if (position) await tellAfterCommit(db, { tallies: [ofDeveloper], entriesOf: tenant.developerId });
  return position;
}

interface GrantOfEntry {
  readonly agentId: string;
  readonly agentDid: string;
  readonly principalId: string;
  readonly purpose: string | null;
}

const grantOfEntry = lookUp<
  GrantOfEntry,
  [developerId: string, grantId: string, within: readonly string[] | null]
>(
  'find_grant_of_entry',
  `select g.agent_id as "agentId", a.did as "agentDid", g.principal_id as "principalId", g.purpose
   from grants g join agents a on a.developer_id = $1 and a.id = g.agent_id
   where g.developer_id = $1 and g.id = $2 and ($3::text[] is null or g.agent_id = any ($3))`,
);

/** What an entry may say of its grant. */
export async function findGrantOfEntry(
  db: Executor,
  { tenant, agentIds }: Reach,
  grantId: string,
): Promise<GrantOfEntry | undefined> {
  return (await grantOfEntry(db, tenant.developerId, grantId, agentIds))[0];
}

export interface NamedMember {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
}

const membersNamed = lookUp<NamedMember, [developerId: string, ids: readonly string[]]>(
  'find_members_of_entries',
  `select id, display_name as name, email from members where developer_id = $1 and id = any ($2)`,
);

export const findMembersNamed = (
  db: Executor,
  { developerId }: Tenant,
  ids: readonly string[],
): Promise<NamedMember[]> => membersNamed(db, developerId, ids);

const ofDeveloper = { counter: 'auditEntries', label: 'developer' } as const;

/**
 * Counts a refused attempt.
 * @returns whether it is the first of its minute, and the number of attempts in the minute before
 */
export async function countBlocked(tx: Tx, { developerId }: Tenant, action: string, at: Date) {
  const call = sql<{ isFirst: boolean; previousMinute: number }>`
    insert into blocked_attempts as b (developer_id, action, minute, attempts, previous_minute)
    values (${developerId}, ${action}, date_trunc('minute', ${at}::timestamptz), 1, 0)
    on conflict (developer_id, action) do update set
      previous_minute = case
        when b.minute = excluded.minute then b.previous_minute
        when b.minute = excluded.minute - interval '1 minute' then b.attempts
        else 0 end,
      attempts = case when b.minute = excluded.minute then b.attempts + 1 else 1 end,
      minute = excluded.minute
    returning attempts = 1 as is_first, previous_minute`;
  const [count] = (await call.execute(tx)).rows;
  if (!count) throw new Error('A counted attempt has no count.');
  await tellAfterCommit(tx, { tallies: [{ counter: 'blockedAttempts', label: action }] });
  return count;
}

export function findEntry(db: Executor, reach: Reach, id: string) {
  return entriesWithin(db, reach).select(entryColumns).where('entry.id', '=', id).executeTakeFirst();
}

/** Entries that name no agent are out of reach of a bound key. */
function entriesWithin(db: Executor, { tenant, agentIds }: Reach) {
  const all = entriesOf(db, tenant);
  return agentIds ? all.where('entry.agentId', 'in', agentIds) : all;
}

/**
 * Lists entries in the order of the chain.
 * @param serviceActions the actions of entries whose `source` is the service
 */
export function listEntryRows(
  db: Executor,
  reach: Reach,
  query: EntryQuery,
  serviceActions: readonly string[],
) {
  const { order, limit } = query;
  const some = filtered(entriesWithin(db, reach), reach.tenant.developerId, query, serviceActions);
  return readPage(db, entryRows(db, some.selectAll().orderBy('entry.seq', order)), limit);
}

type Entries = ReturnType<typeof entriesWithin>;

function filtered(
  all: Entries,
  developerId: string,
  query: EntryQuery,
  serviceActions: readonly string[],
): Entries {
  let some = all;
  for (const name of ['agentId', 'grantId', 'principalId', 'status', 'purpose'] as const) {
    const value = query[name];
    if (value !== undefined) some = some.where(`entry.${name}`, '=', value);
  }
  const { action, actor, denial, source, requestId, since, until, cursor, order } = query;
  if (requestId !== undefined) some = some.where('entry.requestId', '=', requestId);
  if (denial !== undefined) some = some.where(isDenial(denial));
  if (actor !== undefined)
    some = some.where(hasActor(actor)).where('entry.action', 'in', [...serviceActions]);
  if (action?.endsWith('.*')) some = some.where('entry.action', 'like', `${likeText(action.slice(0, -1))}%`);
  else if (action) some = some.where('entry.action', '=', action);
  if (source) some = some.where('entry.action', source === 'service' ? 'in' : 'not in', [...serviceActions]);
  // Filters by position, because time has no index. Both have the same order.
  if (since) some = some.where('entry.seq', '>=', firstSeqSince({ developerId }, new Date(since)));
  if (until) some = some.where('entry.seq', '<', firstSeqSince({ developerId }, new Date(until)));
  if (cursor) some = some.where('entry.seq', order === 'asc' ? '>' : '<', cursor);
  return some;
}

/** Developers may name anybody in the entries that they append. The bound of the length is that of the index. */
const hasActor = (actor: string) => sql<SqlBool>`entry.metadata ->> 'actor' = ${actor}
  and length(entry.metadata ->> 'actor') <= 128`;

/** As the index has it. Developers cannot append entries of this action. */
const isDenial = (denial: string) => sql<SqlBool>`entry.action = 'tool.enforce' and entry.status = 'blocked'
  and (entry.metadata ->> 'reasonCode') || coalesce('/' || (entry.metadata ->> 'subReason'), '') = ${denial}`;

const likeText = (text: string) => text.replace(/[%_\\]/g, '\\$&');

/** Erases rows of a closed account. */
export const eraseBlockedAttempts = eraserOf('blocked_attempts');
