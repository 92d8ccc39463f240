import { type Kysely, sql, type Transaction } from 'kysely';
import type { DB } from './types.gen.ts';

/** A pool or a transaction: enough to read with. */
export type Executor = Kysely<DB>;

/** A transaction and nothing else. Writing takes one, so a write outside it does not compile. */
export type Tx = Transaction<DB>;

/** How often work is done that keeps losing a race. */
export const ATTEMPTS = 4;
const LOST_A_RACE = new Set(['40001', '40P01']); // serialization failure, deadlock

/**
 * Commits what `work` did, or nothing of it. May do it again, so `work` must have no effect outside, but what it
 * hands to `afterCommit`. Keep slow things (HTTP, key generation, signing) before it. In a transaction that is open
 * already it is undone alone, and committed with the rest.
 */
export async function inTransaction<T>(db: Executor, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (isTx(db)) return inSavepoint(db, work);
  let afterwards: AfterCommit[] = [];
  const result = await repeating(db, () =>
    db.transaction().execute((tx) => {
      afterwards = []; // an attempt that lost its race leaves nothing to be done
      opened.set(tx, { afterwards, depth: 0 });
      return work(tx);
    }),
  );
  await runAll(afterwards);
  return result;
}

/**
 * For a hot write, which is a transaction by itself: does it again when it was the loser of a race. In a larger
 * transaction, the loser is all of that, so the function that opened it has to begin again.
 */
export async function repeating<T>(db: Executor, work: () => Promise<T>): Promise<T> {
  const attempts = isTx(db) ? 1 : ATTEMPTS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts || !isLostRace(error)) throw error;
    }
  }
}

type AfterCommit = () => void | Promise<void>;

/**
 * Does work that Postgres cannot undo (a mail, a message to other instances) once everything written so far is
 * committed: at once where `db` is a pool. Work whose writes are rolled back is never done. It has to see to its own
 * failures, since the commit stands.
 */
export async function afterCommit(db: Executor, work: AfterCommit): Promise<void> {
  if (isTx(db)) openedBy(db).afterwards.push(work);
  else await work();
}

/** A transaction that is open for longer than one function: its opener has to end it. */
export interface OpenTransaction {
  readonly tx: Tx;
  /** Then does what was left for after it. */
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export async function openTransaction(db: Executor): Promise<OpenTransaction> {
  const tx = await db.startTransaction().execute();
  const afterwards: AfterCommit[] = [];
  opened.set(tx, { afterwards, depth: 0 });
  return {
    tx,
    async commit() {
      try {
        await tx.commit().execute();
      } catch (error) {
        await tx
          .rollback()
          .execute()
          .catch(() => {}); // gives the connection back; of the two failures the first is the one to tell of
        throw error;
      }
      await runAll(afterwards);
    },
    rollback: () => tx.rollback().execute(),
  };
}

interface Opened {
  readonly afterwards: AfterCommit[];
  /** How many savepoints are held, one in another. */
  depth: number;
}

/** By open transaction, the things known here and not to Kysely. */
const opened = new WeakMap<Executor, Opened>();

function openedBy(tx: Tx): Opened {
  const found = opened.get(tx);
  if (!found) throw new Error('Open transactions with inTransaction or openTransaction.');
  return found;
}

const isTx = (db: Executor): db is Tx => db.isTransaction;

/** No savepoint is released: the next at its depth takes its place, and the commit ends all of them. */
async function inSavepoint<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const state = openedBy(tx);
  const before = state.afterwards.length;
  state.depth += 1;
  const name = sql.id(`depth_${state.depth}`);
  try {
    await sql`savepoint ${name}`.execute(tx);
    return await work(tx);
  } catch (error) {
    state.afterwards.length = before;
    // A lost connection leaves nothing to roll back, and the failure to tell of is the first one.
    await sql`rollback to savepoint ${name}`.execute(tx).catch(() => {});
    throw error;
  } finally {
    state.depth -= 1;
  }
}

async function runAll(works: readonly AfterCommit[]): Promise<void> {
  for (const work of works) await work();
}

/** @throws when the database does not answer. */
export async function ping(db: Executor): Promise<void> {
  await sql`select 1`.execute(db);
}

/** Whether Postgres ended a transaction in favour of another one. */
export const isLostRace = (error: unknown) => LOST_A_RACE.has(codeOf(error));

/** Whether a failure means that Postgres is down, and not that a statement of ours is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  return (
    /^(ECONN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|EAI_AGAIN|ETIMEDOUT|EPIPE|08|53|57P0)/.test(codeOf(error)) ||
    /timeout exceeded|Connection terminated|connection error/.test(String(error))
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
