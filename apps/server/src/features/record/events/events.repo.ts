import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lastEventOf } from '../audit/audit.queries.ts';

/** How many of a developer's events one statement looks at; those of other types are passed over. */
const WINDOW = 10_000;
/** What a transaction may take from the time its events have to its commit, in seconds. */
const LONGEST_WRITE = 120;

export interface EventRange {
  readonly types: readonly string[];
  /** The number after which to begin. */
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

export interface EventRangeRows {
  readonly rows: readonly EventRow[];
  /** Up to where there was looked, and where the developer's events end. */
  readonly searchedTo: string;
  readonly end: string;
}

/**
 * In the order of their numbers, one more than asked for: whether it is there says whether there is another page.
 * A single statement, hence a single moment: nothing that is numbered up to `end` is missing.
 */
export async function listEventRange(
  db: Executor,
  { developerId }: Tenant,
  range: EventRange,
): Promise<EventRangeRows> {
  const { types, after, since, until, limit } = range;
  const earlier = new Date(since.getTime() - LONGEST_WRITE * 1000);
  const later = until && new Date(until.getTime() + LONGEST_WRITE * 1000);
  const asked = sql<{ end: string; searchedTo: string } & (EventRow | { seq: null })>`
    select w."end", w.searched_to, e.seq, e.id, e.type, e.envelope
    from (
      select f.after, f."end", least(f."end", f.after + ${WINDOW}) as searched_to
      from (
        select greatest(${after}::bigint, events_first_seq(${developerId}, ${earlier}) - 1) as after,
          case when ${later}::timestamptz is null then event_seq
            else events_first_seq(${developerId}, ${later}) - 1 end as "end"
        from ${lastEventOf(db, { developerId })} as last
      ) f
    ) w
    left join lateral (
      select o.seq, o.id, o.type, o.envelope from outbox_events o
      where o.developer_id = ${developerId} and o.seq > w.after and o.seq <= w.searched_to
        and o.type = any(${types}) and o.created_at >= ${since}
        and (${until}::timestamptz is null or o.created_at < ${until})
      order by o.seq limit ${limit + 1}
    ) e on true
    order by e.seq`;
  const { rows } = await asked.execute(db);
  const [first] = rows;
  if (!first) throw new Error('A developer has no chain.');
  return {
    rows: rows.flatMap((row) => (row.seq === null ? [] : [row])),
    searchedTo: first.searchedTo,
    end: first.end,
  };
}

/** Where a stream may begin, as numbers after which events are. */
export interface Beginnings {
  /** After all that is committed. */
  readonly end: string;
  /** Before all that is retained. */
  readonly retained: string;
  /** After the event that was named, if there is one of this id. */
  readonly after: string | null;
}

export async function findBeginnings(
  db: Executor,
  { developerId }: Tenant,
  lastEventId: string | null,
  retainedSince: Date,
): Promise<Beginnings> {
  const asked = sql<Beginnings>`
    select event_seq as "end", events_first_seq(${developerId}, ${retainedSince}) - 1 as retained,
      (select seq from outbox_events where developer_id = ${developerId} and id = ${lastEventId}) as after
    from ${lastEventOf(db, { developerId })} as last`;
  const [beginnings] = (await asked.execute(db)).rows;
  if (!beginnings) throw new Error('A developer has no chain.');
  return beginnings;
}

/** Up to where somebody was told of a developer's events. */
export interface StreamPosition {
  readonly developerId: string;
  readonly after: string;
}

/** What came since, for any number of developers in one trip: of each so many at most, in the order of their numbers. */
export async function listNewAcrossTenants(
  db: Executor,
  positions: readonly StreamPosition[],
  limitOfEach: number,
): Promise<(EventRow & Pick<StreamPosition, 'developerId'>)[]> {
  const asked = sql<EventRow & Pick<StreamPosition, 'developerId'>>`
    select t.developer_id, e.seq, e.id, e.type, e.envelope
    from unnest(${positions.map(({ developerId }) => developerId)}::text[], ${positions.map(({ after }) => after)}::bigint[])
      as t (developer_id, after)
    cross join lateral (
      select o.seq, o.id, o.type, o.envelope from outbox_events o
      where o.developer_id = t.developer_id and o.seq > t.after order by o.seq limit ${limitOfEach}
    ) e
    order by t.developer_id, e.seq`;
  return (await asked.execute(db)).rows;
}

/** Of so many developers, in the order of their ids, when the first of the events was written that are still there. */
export async function listFirstsAcrossTenants(
  db: Executor,
  after: string,
  limit: number,
): Promise<{ readonly developerId: string; readonly createdAt: Date }[]> {
  // One look at the primary key for each, whatever number of events it has.
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

/** Deletes the first of the events that are older, so many at most. What another instance deletes is left to it. */
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
