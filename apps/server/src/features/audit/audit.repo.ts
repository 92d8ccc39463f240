import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { Tenant } from '../../platform/caller.ts';
import { Counted } from '../../platform/db/counted.ts';
import type { Executor, Tx } from '../../platform/db/db.ts';
import type { AuditEntries, DB } from '../../platform/db/types.gen.ts';
import type { EntryQuery } from './audit.schema.ts';

export type EntryRow = Selectable<AuditEntries>;

/** An entry's line, cut where only the holder of the chain's head knows what stands; its event, if it is one. */
export interface NewRecord {
  readonly prefix: string;
  readonly suffix: string;
  readonly requestId: string;
  readonly type?: string;
  readonly eventId?: string;
  readonly envelope?: string;
}

/** The place that an entry has got in the chain. */
export interface Recorded {
  readonly id: string;
  readonly seq: string;
  readonly timestamp: string;
  readonly prevHash: string | null;
  readonly hash: string;
}

export async function insertHead(tx: Tx, { developerId }: Tenant): Promise<void> {
  await tx.insertInto('auditHeads').values({ developerId }).execute();
}

/**
 * One statement, which locks, decides, writes and lets go without a word from the client. So it takes any
 * executor: in a transaction it comes last, and by itself it is one.
 */
export async function recordActs(
  db: Executor,
  tenant: Tenant,
  at: Date,
  records: Counted,
): Promise<Recorded[]> {
  const call = sql<Recorded>`select * from record_acts(${tenant.developerId}, ${at}, ${records}::jsonb)`;
  return (await call.execute(db)).rows;
}

/**
 * What a developer appends, which their plan counts. One statement, for any executor.
 * @param monthLimit null is none.
 * @returns nothing when the calendar month has as many already.
 */
export async function appendCounted(
  db: Executor,
  { developerId }: Tenant,
  at: Date,
  entry: Counted,
  monthLimit: number | null,
): Promise<Recorded | undefined> {
  const call = sql<Recorded>`select *
    from audit_append(${developerId}, ${at}, ${entry}::jsonb, ${monthLimit ?? -1})`;
  return (await call.execute(db)).rows[0];
}

/**
 * Counts a refused attempt. @returns whether it is the first of its minute, and how many the minute before had.
 */
export async function countBlocked(tx: Tx, { developerId }: Tenant, action: string, at: Date) {
  const counted = new Counted(action, [{ counter: 'blockedAttempts', label: action }]);
  const call = sql<{ isFirst: boolean; previousMinute: number }>`
    insert into blocked_attempts as b (developer_id, action, minute, attempts, previous_minute)
    values (${developerId}, ${counted}, date_trunc('minute', ${at}::timestamptz), 1, 0)
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
  return count;
}

export function findEntry(db: Executor, { developerId }: Tenant, id: string) {
  return db
    .selectFrom('auditEntries')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/**
 * In the order of the chain, one more than asked for: whether it is there says whether there is another page.
 * @param serviceActions by which `source` is told.
 */
export function listEntryRows(
  db: Executor,
  { developerId }: Tenant,
  query: EntryQuery,
  serviceActions: readonly string[],
) {
  const { order, limit } = query;
  const all = db.selectFrom('auditEntries').selectAll().where('developerId', '=', developerId);
  return filtered(all, query, serviceActions)
    .orderBy('seq', order)
    .limit(limit + 1)
    .execute();
}

type Entries = SelectQueryBuilder<DB, 'auditEntries', EntryRow>;

function filtered(all: Entries, query: EntryQuery, serviceActions: readonly string[]): Entries {
  let some = all;
  for (const name of ['agentId', 'grantId', 'principalId', 'status', 'purpose'] as const) {
    const value = query[name];
    if (value !== undefined) some = some.where(name, '=', value);
  }
  const { action, source, since, until, cursor, order } = query;
  if (action?.endsWith('.*')) some = some.where('action', 'like', `${likeText(action.slice(0, -1))}%`);
  else if (action) some = some.where('action', '=', action);
  if (source) some = some.where('action', source === 'service' ? 'in' : 'not in', [...serviceActions]);
  if (since) some = some.where('at', '>=', new Date(since));
  if (until) some = some.where('at', '<', new Date(until));
  if (cursor) some = some.where('seq', order === 'asc' ? '>' : '<', cursor);
  return some;
}

const likeText = (text: string) => text.replace(/[%_\\]/g, '\\$&');

export function findHead(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('auditHeads')
    .select(['seq', 'hash', sql<Date | null>`nullif(at, '-infinity')`.as('at')])
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
}

/** An entry that came into the table by no append, since the head does not know it. */
export function findBeyondHead(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('auditEntries')
    .innerJoin('auditHeads', 'auditHeads.developerId', 'auditEntries.developerId')
    .select('auditEntries.id')
    .where('auditEntries.developerId', '=', developerId)
    .whereRef('auditEntries.seq', '>', 'auditHeads.seq')
    .orderBy('auditEntries.seq')
    .limit(1)
    .executeTakeFirst();
}

/** A stretch of the chain, both ends included, at most `limit` long. */
export function listStretch(db: Executor, { developerId }: Tenant, from: number, to: number, limit: number) {
  return db
    .selectFrom('auditEntries')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('seq', '>=', String(from))
    .where('seq', '<=', String(to))
    .orderBy('seq')
    .limit(limit)
    .execute();
}
