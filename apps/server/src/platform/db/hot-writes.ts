import { type RawBuilder, sql } from 'kysely';
import type { Tenant } from '../caller.ts';
import { type Executor, repeating } from './db.ts';
import { grouping } from './grouping.ts';

/** A write that many requests wait for: facts, and acts for the developer's audit chain. */
export interface HotWrite<Refusal extends string = string> {
  readonly tenant: Tenant;
  readonly at: Date;
  /**
   * The call of a function that checks and then writes the facts. It returns null, or why it wrote nothing, as text.
   * None where the acts are the facts.
   */
  readonly fact?: RawBuilder<Refusal>;
  /** An array, as JSON. */
  readonly acts: string;
  /** The entry whose position in the chain the caller has to know. */
  readonly wantedId?: string;
  /**
   * Where it stands among the members of its group, as text. The parts are the kind of its first lock, and the row.
   * All groups lock in this order, so that two of them do not wait for each other.
   */
  readonly turn?: string;
  /** Locks that it takes before its own rows, and that members of its group may need too. */
  readonly locks?: readonly NeededLock[];
}

/** A lock that a group takes for all its members before the first of them writes. */
export interface GroupLock {
  /** Groups take their locks in the order of this. */
  readonly turn: number;
  readonly take: (tenant: Tenant, ids: readonly string[]) => RawBuilder<unknown>;
}

type NeededLock = readonly [lock: GroupLock, ids: readonly string[]];

/** The position that an entry has got in the chain. */
export interface ChainPosition {
  readonly id: string;
  readonly seq: string;
  readonly timestamp: string;
  readonly prevHash: string | null;
  readonly hash: string;
}

export interface Outcome<Refusal extends string = string> {
  readonly refusal: Refusal | null;
  readonly position: ChainPosition | undefined;
}

/**
 * Makes a write, which is committed when this returns. While a write of a developer is under way, further writes of
 * that developer wait, and then share a transaction, because a lock of the chain's head and a commit for twenty cost
 * about as much as for two. Inside a larger transaction a write stands or falls with that, and so can share no other.
 */
export async function writeHot<Refusal extends string>(
  db: Executor,
  write: HotWrite<Refusal>,
): Promise<Outcome<Refusal>> {
  const outcome = db.isTransaction ? only(await writeTogether(db, [write])) : await groupOf(db, write);
  return outcome as Outcome<Refusal>; // the type of the call says what its function returns
}

function only([outcome]: readonly Outcome[]): Outcome {
  if (!outcome) throw new Error('A hot write has no outcome.');
  return outcome;
}

/**
 * How long a group waits for any lock but the chain's: a revocation that takes seconds must not hold up the writes that
 * have nothing to do with it. Shorter than Postgres takes to notice that transactions wait in a circle (1 s).
 */
const PATIENCE = '250ms';

const groupOf = grouping<HotWrite, Outcome>({
  ownerOf: ({ tenant }) => tenant.developerId,
  sizeOf: ({ acts }) => acts.length,
  together: (db, writes) => writeTogether(db, writes, PATIENCE),
  alone: async (db, write) => only(await repeating(db, () => writeTogether(db, [write]))),
});

type Row = (ChainPosition & { readonly write: null }) | { readonly write: string; readonly refusal: string };

/** One statement, which locks, decides, writes and lets go without a word from the client. */
async function writeTogether(
  db: Executor,
  writes: readonly HotWrite[],
  patience?: string,
): Promise<Outcome[]> {
  const [first] = writes;
  if (!first) return [];
  const inTurn = [...writes].sort((one, other) => ((one.turn ?? '') < (other.turn ?? '') ? -1 : 1));
  const preparing = [
    ...(patience ? [sql`nullif(set_config('lock_timeout', ${patience}, true), ${patience})`] : []),
    ...(writes.length > 1 ? locksOf(inTurn) : []), // alone, a function takes its locks in order itself
  ];
  const members = [...preparing, ...inTurn.map(({ fact }) => fact ?? sql`null`)];
  const acts = [...preparing.map(() => '[]'), ...inTurn.map((write) => write.acts)];
  const wantedIds = inTurn.flatMap(({ wantedId }) => wantedId ?? []);
  const at = new Date(Math.max(...writes.map((write) => write.at.getTime())));

  const call = sql<Row>`select * from write_together(${first.tenant.developerId}, ${at},
    array[${sql.join(members)}]::text[], ${`[${acts.join(',')}]`}::jsonb, ${wantedIds}::text[])`;
  const { rows } = await call.execute(db);
  const refusals = new Map<HotWrite | undefined, string>();
  const positions = new Map<string | undefined, ChainPosition>();
  for (const row of rows) {
    if (row.write === null) positions.set(row.id, row);
    else refusals.set(inTurn[Number(row.write) - preparing.length - 1], row.refusal);
  }
  return writes.map((write) => ({
    refusal: refusals.get(write) ?? null,
    position: positions.get(write.wantedId),
  }));
}

/** As members of the group that refuse nothing. */
function locksOf(writes: readonly HotWrite[]): RawBuilder<unknown>[] {
  const [first] = writes;
  const needed = new Map<GroupLock, Set<string>>();
  for (const [lock, ids] of writes.flatMap(({ locks = [] }) => locks)) {
    needed.set(lock, (needed.get(lock) ?? new Set()).union(new Set(ids)));
  }
  if (!first) return [];
  return [...needed]
    .sort(([one], [other]) => one.turn - other.turn)
    .map(([lock, ids]) => sql`nullif(${lock.take(first.tenant, [...ids])}::text, '')`);
}
