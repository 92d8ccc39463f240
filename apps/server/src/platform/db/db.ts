import { type Kysely, sql, type Transaction } from 'kysely';
import type { DB } from './types.gen.ts';

/** A pool or a transaction: enough to read with. */
export type Executor = Kysely<DB>;

/** A transaction and nothing else. Writing takes one, so a write outside it does not compile. */
export type Tx = Transaction<DB>;

/** The most attempts of work that keeps losing a race. */
export const ATTEMPTS = 4;
const LOST_A_RACE = new Set(['40001', '40P01']); // serialization failure, deadlock

/**
 * Commits everything that `work` did, or nothing. It may call `work` again, so `work` must have no effect
 * outside, except through `afterCommit`. Keep slow things (HTTP, key generation, signing) before it. In an
 * open transaction, a failure undoes this work alone, and success commits it with the rest.
 */
export async function inTransaction<T>(db: Executor, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (isTx(db)) return inSavepoint(db, work);
  let afterwards: AfterCommit[] = [];
  const result = await repeating(db, () =>
    db.transaction().execute((tx) => {
      afterwards = []; // an attempt that lost its race leaves no work
      opened.set(tx, { afterwards, depth: 0 });
      return work(tx);
    }),
  );
  await runAll(afterwards);
  return result;
}

/**
 * For a hot write, which is its own transaction: repeats it when it lost a race. Inside a larger transaction
 * the whole transaction loses, so the function that opened it has to begin again.
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
 * Does work that Postgres cannot undo (a mail, a message to other instances) after the commit of everything
 * written so far: at once when `db` is a pool. Work whose writes are rolled back is never done. It has to
 * handle its own failures, because the commit stands.
 */
export async function afterCommit(db: Executor, work: AfterCommit): Promise<void> {
  if (isTx(db)) openedBy(db).afterwards.push(work);
  else await work();
}

/** A transaction that stays open for longer than one function. Its opener has to end it. */
export interface OpenTransaction {
  readonly tx: Tx;
  /** Commits, and then does the work for after the commit. */
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
          .catch(() => {}); // gives the connection back; the caller gets the first of the two failures
        throw error;
      }
      await runAll(afterwards);
    },
    rollback: () => tx.rollback().execute(),
  };
}

interface Opened {
  readonly afterwards: AfterCommit[];
  /** The number of open savepoints, each inside the one before. */
  depth: number;
}

/** State of open transactions that Kysely does not keep. */
const opened = new WeakMap<Executor, Opened>();

function openedBy(tx: Tx): Opened {
  const found = opened.get(tx);
  if (!found) throw new Error('Open transactions with inTransaction or openTransaction.');
  return found;
}

const isTx = (db: Executor): db is Tx => db.isTransaction;

/** Savepoints are not released: the next at the same depth replaces one, and the commit ends all of them. */
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
    // A lost connection leaves nothing to roll back, and the caller gets the first failure.
    await sql`rollback to savepoint ${name}`.execute(tx).catch(() => {});
    throw error;
  } finally {
    state.depth -= 1;
  }
}

async function runAll(works: readonly AfterCommit[]): Promise<void> {
  for (const work of works) await work();
}

/** @throws when the database does not answer, or is a standby, as a pooler may find in a fail-over. */
export async function ping(db: Executor): Promise<void> {
  const asked = sql<{ isStandby: boolean }>`select pg_is_in_recovery() as "isStandby"`;
  const { rows } = await asked.execute(db);
  if (rows[0]?.isStandby) throw new Error('The server of the database is a standby.');
}

/**
 * Thrown inside the transaction of a request by work that may take long and must hold no connection. The request is rolled
 * back, the work is done, and the request begins again. The work keeps its outcome for that second run.
 */
export class BeforeTransaction extends Error {
  readonly work: () => Promise<void>;

  constructor(work: () => Promise<void>) {
    super('This work has to be done before the transaction of the request.');
    this.work = work;
  }
}

/** What requests found out before their transactions, by the caller, of whom each request has its own, and by question. */
const foundBefore = new WeakMap<object, Map<string, unknown>>();

/**
 * Does work that may take long while no transaction is open. Inside the transaction of a request it stops the request, which
 * then begins again with the outcome.
 * @param question names the work among all that the request does so @throws BeforeTransaction
 */
export async function beforeTransaction<T>(
  db: Executor,
  caller: object,
  question: string,
  work: () => Promise<T>,
): Promise<T> {
  if (!db.isTransaction) return work();
  const found = foundBefore.get(caller) ?? new Map<string, unknown>();
  foundBefore.set(caller, found);
  if (found.has(question)) return found.get(question) as T;
  throw new BeforeTransaction(async () => void found.set(question, await work()));
}

/** Whether Postgres ended a transaction in favour of another. */
export const isLostRace = (error: unknown) => LOST_A_RACE.has(codeOf(error));

/** Whether a row could not be deleted because another one refers to it. */
export const isReferredTo = (error: unknown) => codeOf(error) === '23503';

/** Whether a row was refused by this unique index. */
export const isTaken = (error: unknown, index: string) =>
  codeOf(error) === '23505' && Object(error).constraint === index;

/** Whether a row stays because rows of another table name it. @param constraint the reference that holds it */
export const isReferenced = (error: unknown, constraint: string) =>
  codeOf(error) === '23503' && Object(error).constraint === constraint;

/**
 * Whether a failure means that Postgres is down, and not that the statement is wrong. A standby, which refuses to write
 * (25006), counts as down: in a fail-over the address of the primary may lead to it.
 */
export function isDatabaseAway(error: unknown): boolean {
  return (
    /^(ECONN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|EAI_AGAIN|ETIMEDOUT|EPIPE|08|53|57P0|25006)/.test(
      codeOf(error),
    ) || /timeout exceeded|Connection terminated|connection error/.test(String(error))
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The database as it was at one moment, for as long as its reader needs. It holds a connection until it is ended. */
export interface Snapshot {
  readonly db: Executor;
  /** Gives the connection back. May be called again. */
  end(): Promise<void>;
}

/** Statements of the snapshot see what was committed before the first of them, and cannot write. */
export async function openSnapshot(db: Executor): Promise<Snapshot> {
  const opening = db.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  const tx = await opening.execute();
  let isOpen = true;
  return {
    db: tx,
    async end() {
      if (!isOpen) return;
      isOpen = false;
      await tx
        .rollback()
        .execute()
        .catch(() => {}); // a connection that cannot roll back is thrown away, and nothing was written
    },
  };
}

/** Reads several things as they were at one moment. */
export async function inSnapshot<T>(db: Executor, read: (db: Executor) => Promise<T>): Promise<T> {
  const snapshot = await openSnapshot(db);
  try {
    return await read(snapshot.db);
  } finally {
    await snapshot.end();
  }
}
