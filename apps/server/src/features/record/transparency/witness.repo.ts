import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';

/** What a witness has said of a log. */
export interface WitnessState {
  /** The size that it confirmed last. */
  readonly size: number;
  /** Submissions in a row that failed. */
  readonly failures: number;
  /** Why the last one failed. */
  readonly error: string | null;
}

/** Logs of live accounts that are not as long as a witness knows, whose turn it is. */
export async function listUnwitnessedAcrossTenants(
  db: Executor,
  { witness, at }: { readonly witness: string; readonly at: Date },
  after: string,
  limit: number,
): Promise<Tenant[]> {
  const { rows } = await sql<Tenant>`
    select l.developer_id from tlog_logs l
    join developers d on d.id = l.developer_id and d.mode = 'live'
    left join tlog_witnesses w on w.developer_id = l.developer_id and w.gen = l.gen and w.witness = ${witness}
    where l.closed_at is null and l.halted is null and l.size <> coalesce(w.size, 0)
      and coalesce(w.next_at <= ${at}, true) and l.developer_id > ${after}
    order by l.developer_id limit ${limit}`.execute(db);
  return rows;
}

/**
 * Takes the turn of a witness.
 *
 * @returns undefined when it is not its turn, or another process has taken it
 */
export async function claimWitness(
  db: Executor,
  { developerId }: Tenant,
  turn: { readonly gen: number; readonly witness: string; readonly at: Date; readonly nextAt: Date },
): Promise<WitnessState | undefined> {
  const { rows } = await sql<WitnessState>`
    insert into tlog_witnesses (developer_id, gen, witness, next_at)
    values (${developerId}, ${turn.gen}, ${turn.witness}, ${turn.nextAt})
    on conflict (developer_id, gen, witness) do update set next_at = excluded.next_at
      where tlog_witnesses.next_at <= ${turn.at}
    returning size::float8 as size, failures, error`.execute(db);
  return rows[0];
}

interface Outcome extends WitnessState {
  readonly gen: number;
  readonly witness: string;
  readonly nextAt: Date;
  /** The signature line over the log's note of this size. */
  readonly line?: string | null;
  readonly cosignedAt?: Date | null;
}

export async function writeWitness(
  db: Executor,
  { developerId }: Tenant,
  { gen, witness, ...outcome }: Outcome,
): Promise<void> {
  await db
    .updateTable('tlogWitnesses')
    .set({ ...outcome, size: String(outcome.size) })
    .where('developerId', '=', developerId)
    .where('gen', '=', gen)
    .where('witness', '=', witness)
    .execute();
}

/** How many logs some of these witnesses contradict. */
export async function countContradictedAcrossTenants(
  db: Executor,
  witnesses: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from tlog_witnesses w
    join tlog_logs l on l.developer_id = w.developer_id and l.gen = w.gen and l.closed_at is null
    where w.error = 'contradicted' and w.witness = any(${witnesses})`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Whether a witness contradicts a log. */
export async function isContradicted(db: Executor, { developerId }: Tenant, gen: number): Promise<boolean> {
  const found = await db
    .selectFrom('tlogWitnesses')
    .select('witness')
    .where('developerId', '=', developerId)
    .where('gen', '=', gen)
    .where('error', '=', 'contradicted')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** What each witness of a log confirmed last, by name. */
export const listWitnesses = lookUp<
  {
    readonly name: string;
    readonly treeSize: number;
    readonly cosignedAt: Date | null;
    readonly error: string | null;
  },
  [developerId: string, gen: number]
>(
  'list_tlog_witnesses',
  `select witness as name, size::float8 as "treeSize", cosigned_at as "cosignedAt", error from tlog_witnesses
   where developer_id = $1 and gen = $2 order by witness`,
);
