import { sql } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { type BoundedRow, boundedRows, type PageRows, pageRows } from '../../../platform/db/page-rows.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { aboutAllAgents } from './catalogue.rules.ts';

/** Events that one statement looks at, including events of types that were not asked for. */
const WINDOW = 10_000;
/** Seconds that may pass between the time of an event and its commit. */
const LONGEST_WRITE = 120;

export interface EventRange {
  readonly types: readonly string[];
  /** The range begins after this number. */
  readonly after: string;
  readonly since: Date;
  readonly until: Date | null;
  readonly limit: number;
}

export interface EventRow {
  readonly seq: string;
  readonly id: string;
  readonly type: string;
  readonly envelope: string;
}

export interface EventRangeRows extends PageRows<EventRow> {
  /** The number up to which the statement looked, and the number of the last event. */
  readonly searchedTo: string;
  readonly end: string;
}

/**
 * Lists events in the order of their numbers. One statement sees one moment, so no event up to `end` is missing.
 */
export async function listEventRange(
  db: Executor,
  { tenant, agentIds }: Reach,
  range: EventRange,
): Promise<EventRangeRows> {
  const { developerId } = tenant;
  const { types, after, since, until, limit } = range;
  const earlier = new Date(since.getTime() - LONGEST_WRITE * 1000);
  const later = until && new Date(until.getTime() + LONGEST_WRITE * 1000);
  const asked = sql<{ end: string; searchedTo: string } & (BoundedRow<EventRow> | { seq: null })>`
    select w."end", w.searched_to, e.seq, e.id, e.type, e.envelope, e.fitting
    from (
      select f.after, f."end", least(f."end", f.after + ${WINDOW}) as searched_to
      from (
        select greatest(${after}::bigint, events_first_seq(${developerId}, ${earlier}) - 1) as after,
          case when ${later}::timestamptz is null then event_seq
            else events_first_seq(${developerId}, ${later}) - 1 end as "end"
        from audit_heads where developer_id = ${developerId}
      ) f
    ) w
    left join lateral (select * from ${boundedRows(sql<EventRow>`
      select o.seq, o.id, o.type, o.envelope from outbox_events o
      where o.developer_id = ${developerId} and o.seq > w.after and o.seq <= w.searched_to
        and o.type = any(${types}) and (${agentIds}::text[] is null or o.agent_id = any(${agentIds}) or o.type = any(${aboutAllAgents}))
        and o.created_at >= ${since}
        and (${until}::timestamptz is null or o.created_at < ${until})
      order by o.seq limit ${limit + 1}`)} as found) e on true
    order by e.seq`;
  const { rows } = await asked.execute(db);
  const [first] = rows;
  if (!first) throw new Error('A developer has no chain.');
  return {
    ...pageRows(
      rows.flatMap((row) => (row.seq === null ? [] : [row])),
      limit,
    ),
    searchedTo: first.searchedTo,
    end: first.end,
  };
}

/** Numbers after which a stream may begin. */
export interface Beginnings {
  /** After all committed events. */
  readonly end: string;
  /** Before all retained events. */
  readonly retained: string;
  /** After the event with the given id; null when there is no such event. */
  readonly after: string | null;
}

export async function findBeginnings(
  db: Executor,
  { tenant, agentIds }: Reach,
  lastEventId: string | null,
  retainedSince: Date,
): Promise<Beginnings> {
  const { developerId } = tenant;
  const asked = sql<Beginnings>`
    select event_seq as "end", events_first_seq(${developerId}, ${retainedSince}) - 1 as retained,
      (select seq from outbox_events where developer_id = ${developerId} and id = ${lastEventId}
        and (${agentIds}::text[] is null or agent_id = any(${agentIds}) or type = any(${aboutAllAgents}))) as after
    from audit_heads where developer_id = ${developerId}`;
  const [beginnings] = (await asked.execute(db)).rows;
  if (!beginnings) throw new Error('A developer has no chain.');
  return beginnings;
}

/** The number after which the followers of a developer need events. */
export interface StreamPosition {
  readonly developerId: string;
  readonly after: string;
}

/** A new event, for followers of different reach. */
export interface NewEventRow extends EventRow, Pick<StreamPosition, 'developerId'> {
  /** The agent that it names. */
  readonly agentId: string | null;
  /** Whether the developer's events up to this one stay below the bound in bytes. */
  readonly hasRoom: boolean;
}

/** The bounds of a read for each developer. The event that reaches the number of bytes is the last one. */
export interface MostOfEach {
  readonly events: number;
  readonly bytes: number;
}

/** Lists the events after each position in the order of their numbers, and of a developer no more than the bounds. */
export async function listNewAcrossTenants(
  db: Executor,
  positions: readonly StreamPosition[],
  mostOfEach: MostOfEach,
): Promise<NewEventRow[]> {
  const asked = sql<NewEventRow>`
    select t.developer_id, e.seq, e.id, e.type, e.agent_id, e.envelope, e.bytes < ${mostOfEach.bytes} as "hasRoom"
    from unnest(${positions.map(({ developerId }) => developerId)}::text[], ${positions.map(({ after }) => after)}::bigint[])
      as t (developer_id, after)
    cross join lateral (
      select o.seq, o.id, o.type, o.agent_id, o.envelope,
        (sum(octet_length(o.envelope)) over (order by o.seq))::integer as bytes
      from outbox_events o
      where o.developer_id = t.developer_id and o.seq > t.after order by o.seq limit ${mostOfEach.events}
    ) e
    where e.bytes - octet_length(e.envelope) < ${mostOfEach.bytes}
    order by t.developer_id, e.seq`;
  return (await asked.execute(db)).rows;
}

/** Lists when the oldest event of each developer was written, in the order of developer ids. */
export async function listFirstsAcrossTenants(
  db: Executor,
  after: string,
  limit: number,
): Promise<{ readonly developerId: string; readonly createdAt: Date }[]> {
  // One lookup in the primary key for each developer, whatever the number of events.
  const asked = sql<{ developerId: string; createdAt: Date }>`
    with recursive firsts (developer_id, created_at, n) as (
      (select developer_id, created_at, 1 from outbox_events where developer_id > ${after}
        order by developer_id, seq limit 1)
      union all
      select next.developer_id, next.created_at, n + 1 from firsts cross join lateral (
        select o.developer_id, o.created_at from outbox_events o where o.developer_id > firsts.developer_id
          order by o.developer_id, o.seq limit 1
      ) next
      where n < ${limit}
    )
    select developer_id, created_at from firsts order by n`;
  return (await asked.execute(db)).rows;
}

/**
 * Deletes the oldest events before a time, at most `limit`. Skips events that another instance is deleting.
 */
export async function deleteEventsBefore(
  db: Executor,
  { developerId }: Tenant,
  time: Date,
  limit: number,
): Promise<number> {
  const earlier = new Date(time.getTime() - LONGEST_WRITE * 1000);
  const deleted = sql`
    delete from outbox_events where developer_id = ${developerId} and seq = any(array(
      select seq from outbox_events
      where developer_id = ${developerId} and seq < events_first_seq(${developerId}, ${earlier})
      order by seq limit ${limit} for update skip locked
    ))`;
  return Number((await deleted.execute(db)).numAffectedRows);
}

/** Erases rows of a closed account. */
export const eraseEvents = eraserOf('outbox_events');
