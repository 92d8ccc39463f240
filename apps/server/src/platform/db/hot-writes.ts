import type { RawBuilder } from 'kysely';
import pg from 'pg';
import type { Tenant } from '../caller.ts';
import type { Tally } from '../telemetry/meter.ts';
import { type CommitEffect, tellAfterCommit } from './commit-effects.ts';
import { type Executor, repeating } from './db.ts';
import { grouping } from './grouping.ts';
import { lookUp, statement } from './statement.ts';

/** A write that many requests wait for: facts, and acts for the developer's audit chain. */
export interface HotWrite {
  readonly tenant: Tenant;
  readonly at: Date;
  /** Checks and then writes the facts. None where the acts are the facts. */
  readonly fact?: HotCall;
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

/**
 * A call of a function `(developer_id text, at timestamptz, write jsonb)`. It returns null when it wrote the facts, or
 * as text why it wrote nothing, or `{"made": …}`, which is a `Made`.
 */
export interface HotCall {
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export const hotCall = (name: string, values: HotCall['values']): HotCall => ({ name, values });

/** A lock that a group takes for all its members before the first of them writes. */
export interface GroupLock {
  /** A function `(developer_id text, ids text[])`. */
  readonly name: string;
  /** Groups take their locks in the order of this. */
  readonly turn: number;
}

export const groupLock = (name: string, turn: number): GroupLock => ({ name, turn });

type NeededLock = readonly [lock: GroupLock, ids: readonly string[]];

/** The position that an entry has got in the chain. */
export interface ChainPosition {
  readonly id: string;
  readonly seq: string;
  readonly timestamp: string;
  readonly prevHash: string | null;
  readonly hash: string;
}

/** The choice of a function among the acts of its write, whose values only the holder of its locks knows. */
export interface Made {
  /** The places of the acts that are recorded, in their order. The others are not. */
  readonly acts: readonly number[];
  /** Texts that stand for a value in the acts, each with that value. */
  readonly fills: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly refusal: string | null;
  readonly made: Made | undefined;
  readonly position: ChainPosition | undefined;
}

/**
 * Makes a write, which is committed when this returns. While a write of a developer is under way, further writes of
 * that developer wait, and then share a transaction, because a lock of the chain's head and a commit for twenty cost
 * about as much as for two. Writes of other developers that wait by then share it too. Inside a larger transaction a
 * write stands or falls with that, and so can share no other.
 */
export async function writeHot(db: Executor, write: HotWrite): Promise<Outcome> {
  return db.isTransaction ? writeOne(db, write) : groupOf(db, write);
}

/**
 * How long a group waits for any lock but the chain's, and the next group for this one: a revocation that takes seconds
 * must not hold up the writes that have nothing to do with it. Shorter than Postgres takes to notice that transactions
 * wait in a circle (1 s).
 */
const PATIENCE = 250; // milliseconds

/** How long a group of several developers waits for any lock, since it holds the chains of those before. */
const SHARED_PATIENCE = 100; // milliseconds

const groupOf = grouping<HotWrite, Outcome>({
  ownerOf: ({ tenant }) => tenant.developerId,
  patience: PATIENCE,
  sizeOf: ({ acts }) => acts.length,
  mayMix: mayMixDevelopers,
  together: (db, writes) =>
    writeTogether(db, writes, (parts) => `${parts > 1 ? SHARED_PATIENCE : PATIENCE}ms`),
  alone: (db, write) => repeating(db, () => writeOne(db, write)),
});

const lookingForCitus = lookUp<{ isDistributed: boolean }, []>(
  'is_distributed',
  `select exists (select from pg_extension where extname = 'citus') as "isDistributed"`,
);

/** False where Citus may have put the developers on several nodes: a group of theirs would commit in two phases. */
export async function mayMixDevelopers(db: Executor): Promise<boolean> {
  const [row] = await lookingForCitus(db);
  return row?.isDistributed === false;
}

type Row = (ChainPosition & { readonly place: null }) | { readonly place: number; readonly refusal: string };

type PartRow = Row & { readonly part: number; readonly failure: string | null; readonly message: string };

const calling = statement<PartRow, [parts: string, patience: string | null]>(
  'write_together',
  `select part, failure, message, place, refusal, id, seq, "timestamp", prev_hash as "prevHash", hash
   from write_together($1, $2)`,
);

/**
 * One statement, which locks, decides, writes and lets go without a word from the client.
 * @returns an outcome for each write, or the error that undid the writes of its developer
 */
async function writeTogether(
  db: Executor,
  writes: readonly HotWrite[],
  patienceOf: (parts: number) => string | null,
): Promise<(Outcome | Error)[]> {
  const parts = [...Map.groupBy(writes, ({ tenant }) => tenant.developerId).values()].map(partOf);
  const rows = await calling(db, `[${parts.map(jsonOf).join(',')}]`, patienceOf(parts.length));
  const rowsOfParts = Map.groupBy(rows, ({ part }) => part);
  const answers = new Map<HotWrite, Outcome | Error>();
  for (const [each, part] of parts.entries()) {
    const own = rowsOfParts.get(each + 1) ?? [];
    const failed = own.find(({ failure }) => failure !== null);
    const outcomes = outcomesOf(part, own);
    for (const write of part.inTurn) answers.set(write, failed ? errorOf(failed) : outcomes(write));
  }
  return writes.map((write) => answers.get(write) ?? new Error('A hot write has no outcome.'));
}

async function writeOne(db: Executor, write: HotWrite): Promise<Outcome> {
  const [outcome] = await writeTogether(db, [write], () => null);
  if (!outcome || outcome instanceof Error) throw outcome ?? new Error('A hot write has no outcome.');
  return outcome;
}

const errorOf = ({ failure, message }: PartRow) =>
  Object.assign(new pg.DatabaseError(message, 0, 'error'), { code: failure ?? '' });

/** The writes of one developer that share a transaction, as the database gets them. */
interface Part {
  readonly inTurn: readonly HotWrite[];
  readonly developerId: string;
  readonly at: Date;
  readonly writes: string;
  readonly acts: string;
  readonly wantedIds: readonly string[];
  readonly locks: string;
}

function partOf(writes: readonly HotWrite[]): Part {
  const inTurn = [...writes].sort((one, other) => ((one.turn ?? '') < (other.turn ?? '') ? -1 : 1));
  return {
    inTurn,
    developerId: inTurn[0]?.tenant.developerId ?? '',
    at: new Date(Math.max(...writes.map(({ at }) => at.getTime()))),
    writes: JSON.stringify(inTurn.map(({ at, fact }) => ({ at, name: fact?.name, values: fact?.values }))),
    acts: `[${inTurn.map(({ acts }) => acts).join(',')}]`,
    wantedIds: inTurn.flatMap(({ wantedId }) => wantedId ?? []),
    locks: writes.length > 1 ? JSON.stringify(locksOf(inTurn)) : '[]', // alone, a function takes its locks in order itself
  };
}

function jsonOf({ developerId, at, writes, acts, wantedIds, locks }: Part): string {
  const named = JSON.stringify({ developerId, at, wantedIds });
  return `${named.slice(0, -1)},"writes":${writes},"acts":${acts},"locks":${locks}}`;
}

function outcomesOf({ inTurn }: Part, rows: readonly Row[]): (write: HotWrite) => Outcome {
  const refusals = new Map<HotWrite | undefined, string>();
  const positions = new Map<string | undefined, ChainPosition>();
  for (const row of rows) {
    if (row.place === null) positions.set(row.id, row);
    else refusals.set(inTurn[row.place - 1], row.refusal);
  }
  return (write) => ({ ...outcomeOf(refusals.get(write)), position: positions.get(write.wantedId) });
}

const MADE = '{"made": ';

/** Tells apart what a function's text says. */
function outcomeOf(text: string | undefined): Pick<Outcome, 'refusal' | 'made'> {
  if (!text?.startsWith(MADE)) return { refusal: text ?? null, made: undefined };
  return { refusal: null, made: JSON.parse(text).made };
}

/** The locks of all members in their order, each with the ids of all who need it. */
function locksOf(writes: readonly HotWrite[]): { name: string; ids: string[] }[] {
  const needed = new Map<GroupLock, Set<string>>();
  for (const [lock, ids] of writes.flatMap(({ locks = [] }) => locks)) {
    needed.set(lock, (needed.get(lock) ?? new Set()).union(new Set(ids)));
  }
  return [...needed]
    .sort(([one], [other]) => one.turn - other.turn)
    .map(([{ name }, ids]) => ({ name, ids: [...ids] }));
}

/**
 * Audit entries and events on their way into the database. Only a statement that writes them gets their JSON,
 * so no statement can write them without reporting the effect.
 */
export interface Records {
  /** Runs a statement that writes them. */
  write<Row>(db: Executor, statement: (json: string) => RawBuilder<Row>): Promise<Row[]>;
  /**
   * Runs a hot write, and runs it again when it lost a race.
   * @returns the reason why it wrote nothing, or null
   */
  writeUnlessRefused<Refusal extends string>(
    db: Executor,
    write: Omit<HotWrite, 'acts'>,
  ): Promise<Refusal | null>;
  /** As `writeUnlessRefused`, for a function that chooses among the acts. @returns its choice, or why it wrote nothing */
  writeChosen(
    db: Executor,
    write: Omit<HotWrite, 'acts'>,
  ): Promise<{ readonly made: Made } | { readonly refusal: string }>;
}

/** @param tallies those of each act, or, where no function chooses among the acts, those of all */
export function newRecords(
  json: string,
  {
    eventsOf,
    entriesOf,
    tallies,
  }: Omit<CommitEffect, 'tallies'> & { readonly tallies: readonly (readonly Tally[])[] },
): Records {
  const effectOf = (counted: readonly (readonly Tally[])[]): CommitEffect => ({
    tallies: counted.flat(),
    ...(eventsOf !== undefined && { eventsOf }),
    ...(entriesOf !== undefined && { entriesOf }),
  });
  const effect = effectOf(tallies);
  return {
    async write(db, statement) {
      const { rows } = await statement(json).execute(db);
      await tellAfterCommit(db, effect);
      return rows;
    },
    async writeUnlessRefused<Refusal extends string>(db: Executor, write: Omit<HotWrite, 'acts'>) {
      const { refusal } = await writeHot(db, { ...write, acts: json });
      if (refusal === null) await tellAfterCommit(db, effect);
      return refusal as Refusal | null; // the caller knows what its function returns
    },
    async writeChosen(db, write) {
      const { refusal, made } = await writeHot(db, { ...write, acts: json });
      if (!made) return { refusal: String(refusal) };
      await tellAfterCommit(db, effectOf(made.acts.map((place) => tallies[place] ?? [])));
      return { made };
    },
  };
}
