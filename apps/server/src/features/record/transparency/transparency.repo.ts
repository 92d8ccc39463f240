import type { Tile, TilePosition } from '@behest/protocol/merkle-tiles';
import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';

/** The log of a developer, as it stands beside the chain. */
export interface LogRow {
  readonly gen: number;
  readonly logId: string;
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
  /** Why nothing is signed any more. */
  readonly halted: string | null;
  /** The newest note, with the signatures of the witnesses that have confirmed it. */
  readonly note: string | null;
  readonly noteSize: number | null;
  readonly signedAt: Date | null;
}

const NEWEST_NOTE = `lateral (
    select k.size, k.signed_at, k.note || coalesce((select string_agg(w.line, '' order by w.witness) from tlog_witnesses w
      where w.developer_id = k.developer_id and w.gen = k.gen and w.size = k.size), '') as note
    from tlog_checkpoints k where k.developer_id = l.developer_id and k.gen = l.gen order by k.day desc limit 1)`;

const chainAndLog = lookUp<
  { readonly head: number } & { readonly [Name in keyof LogRow]: LogRow[Name] | null },
  [string]
>(
  'find_tlog',
  `select h.seq::float8 as head, l.gen, l.log_id as "logId", l.origin, l.size::float8 as size, l.root, l.halted, c.note,
     c.size::float8 as "noteSize", c.signed_at as "signedAt"
   from audit_heads h left join tlog_logs l on l.developer_id = $1 and l.closed_at is null
   left join ${NEWEST_NOTE} c on true
   where h.developer_id = $1`,
);

/** How long a chain is, and its log if there is one: both as they were at one moment. */
export async function findLog(
  db: Executor,
  { developerId }: Tenant,
): Promise<{ readonly head: number; readonly log: LogRow | undefined }> {
  const [row] = await chainAndLog(db, developerId);
  if (!row) return { head: 0, log: undefined };
  const { head, ...log } = row;
  return { head, log: log.gen === null ? undefined : (log as LogRow) }; // only the note of a log may be missing
}

const publicLog = lookUp<LogRow & Tenant, [string]>(
  'find_tlog_by_id',
  `select l.developer_id as "developerId", l.gen, l.log_id as "logId", l.origin, l.size::float8 as size, l.root, l.halted,
     c.note, c.size::float8 as "noteSize", c.signed_at as "signedAt"
   from tlog_index i join tlog_logs l on l.developer_id = i.developer_id and l.gen = i.gen
   left join ${NEWEST_NOTE} c on true
   where i.log_id = $1`,
);

/** The log that an address names. */
export const findLogByIdAcrossTenants = async (db: Executor, logId: string) =>
  (await publicLog(db, logId))[0];

/** Makes a log, unless another process has made it. */
export async function insertLog(
  tx: Tx,
  { developerId }: Tenant,
  log: Pick<LogRow, 'gen' | 'logId' | 'origin' | 'root'> & { readonly createdAt: Date },
): Promise<void> {
  const { gen, logId } = log;
  const made = await tx
    .insertInto('tlogLogs')
    .values({ developerId, ...log })
    .onConflict((conflict) => conflict.doNothing())
    .returning('gen')
    .executeTakeFirst();
  if (made) await tx.insertInto('tlogIndex').values({ logId, developerId, gen }).execute();
}

const tilesOfLog = lookUp<
  Tile,
  [developerId: string, gen: number, levels: readonly number[], indexes: readonly number[]]
>(
  'find_tlog_tiles',
  `select t.level, t.idx::float8 as index, t.hashes from unnest($3::int[], $4::bigint[]) as wanted (level, idx)
   cross join lateral (select level, idx, hashes from tlog_tiles where developer_id = $1 and gen = $2
     and level = wanted.level and idx = wanted.idx limit 1) t`,
);

/** Tiles in any order, each as long as it is now. */
export async function findTiles(
  db: Executor,
  { developerId }: Tenant,
  gen: number,
  positions: readonly TilePosition[],
): Promise<Tile[]> {
  if (positions.length === 0) return [];
  const levels = positions.map(({ level }) => level);
  return tilesOfLog(
    db,
    developerId,
    gen,
    levels,
    positions.map(({ index }) => index),
  );
}

/** What a batch makes of a log. */
export interface Growth {
  readonly size: number;
  readonly root: Uint8Array;
  readonly tiles: readonly Tile[];
  readonly note: string | null;
  readonly at: Date;
}

const growing = statement<
  { readonly grown: number },
  [
    developerId: string,
    gen: number,
    before: number,
    size: number,
    root: Uint8Array,
    tiles: string,
    note: string | null,
    at: Date,
  ]
>(
  'grow_tlog',
  `with grown as (
     update tlog_logs set size = $4, root = $5
     where developer_id = $1 and gen = $2 and size = $3 and halted is null and closed_at is null returning gen
   ), tiles as (
     insert into tlog_tiles (developer_id, gen, level, idx, hashes)
     select $1, g.gen, t.level, t.idx, decode(t.hashes, 'hex')
     from grown g cross join jsonb_to_recordset($6::jsonb) as t (level int, idx bigint, hashes text)
     on conflict (developer_id, gen, level, idx) do update set hashes = excluded.hashes
   ), signed as (
     insert into tlog_checkpoints (developer_id, gen, day, size, note, signed_at)
     select $1, g.gen, ($8::timestamptz at time zone 'utc')::date, $4, $7, $8 from grown g where $7::text is not null
     on conflict (developer_id, gen, day) do update
       set size = excluded.size, note = excluded.note, signed_at = excluded.signed_at
       where tlog_checkpoints.size <= excluded.size
   )
   select count(*)::int as grown from grown`,
);

/**
 * Adds a batch to a log in one statement: tiles, size, root and note become visible together.
 * @returns false when another process was first
 */
export async function growLog(
  db: Executor,
  { developerId }: Tenant,
  { gen, size: before }: Pick<LogRow, 'gen' | 'size'>,
  { size, root, tiles, note, at }: Growth,
): Promise<boolean> {
  const json = JSON.stringify(
    tiles.map(({ level, index, hashes }) => ({
      level,
      idx: index,
      hashes: Buffer.from(hashes).toString('hex'),
    })),
  );
  const [row] = await growing(db, developerId, gen, before, size, root, json, note, at);
  return row?.grown === 1;
}

/** Keeps a note of the present size, such as the first after the operator has set or changed the key. */
export async function keepNote(
  db: Executor,
  { developerId }: Tenant,
  { gen, size, note, at }: Pick<LogRow, 'gen' | 'size'> & { readonly note: string; readonly at: Date },
): Promise<void> {
  await sql`insert into tlog_checkpoints (developer_id, gen, day, size, note, signed_at)
    values (${developerId}, ${gen}, (${at}::timestamptz at time zone 'utc')::date, ${size}, ${note}, ${at})
    on conflict (developer_id, gen, day) do update
      set size = excluded.size, note = excluded.note, signed_at = excluded.signed_at
      where tlog_checkpoints.size <= excluded.size`.execute(db);
}

/** @returns false when the log was halted before */
export async function haltLog(
  tx: Tx,
  { developerId }: Tenant,
  gen: number,
  reason: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tlogLogs')
    .set({ halted: reason })
    .where('developerId', '=', developerId)
    .where('gen', '=', gen)
    .where('halted', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends the log of a developer. @returns what it was */
export function closeLog(tx: Tx, { developerId }: Tenant, at: Date) {
  return tx
    .updateTable('tlogLogs')
    .set({ closedAt: at })
    .where('developerId', '=', developerId)
    .where('closedAt', 'is', null)
    .returning(['gen', 'origin', 'size', 'root', 'halted'])
    .executeTakeFirst();
}

/** Whether the operator ended a log and began another. */
export async function isClosed(db: Executor, { developerId }: Tenant, logId: string): Promise<boolean> {
  const closed = await db
    .selectFrom('tlogLogs')
    .select('gen')
    .where('developerId', '=', developerId)
    .where('logId', '=', logId)
    .where('closedAt', 'is not', null)
    .executeTakeFirst();
  return closed !== undefined;
}

/** What a record of the log needs to know of an account. */
export function findAccount(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('developers')
    .select(['mode', 'plan'])
    .where('id', '=', developerId)
    .executeTakeFirst();
}

/**
 * Chains whose log is not as long as they are, with the time of the first entry that it lacks, or has no note yet: a portion of
 * the heads in the order of developers.
 * @param isSigned whether logs have notes
 * @returns the last developer that was looked at
 */
export async function listUnevenAcrossTenants(
  db: Executor,
  { after, limit, isSigned }: { readonly after: string; readonly limit: number; readonly isSigned: boolean },
) {
  const { rows } = await sql<{ developerId: string; isUneven: boolean; since: Date | null }>`
    select h.developer_id, l.halted is null and (h.seq <> coalesce(l.size, 0) or ${isSigned} and not exists (
        select from tlog_checkpoints k where k.developer_id = h.developer_id and k.gen = l.gen
      )) as is_uneven,
      (select e.at from audit_entries e where e.developer_id = h.developer_id and e.seq = coalesce(l.size, 0) + 1
        and l.halted is null and h.seq > coalesce(l.size, 0)) as since
    from (
      select chain.developer_id, chain.seq from audit_heads chain join developers d on d.id = chain.developer_id
      where chain.developer_id > ${after} and chain.seq > 0 order by chain.developer_id limit ${limit}
    ) h
    left join tlog_logs l on l.developer_id = h.developer_id and l.closed_at is null
    order by h.developer_id`.execute(db);
  return {
    uneven: rows.filter(({ isUneven }) => isUneven),
    last: rows.at(-1)?.developerId,
    count: rows.length,
  };
}

/** How many logs wait for the operator. */
export async function countHaltedAcrossTenants(db: Executor): Promise<number> {
  const { count } = await db
    .selectFrom('tlogLogs')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('halted', 'is not', null)
    .where('closedAt', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}
