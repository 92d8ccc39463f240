import type { Executor } from './db.ts';

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
