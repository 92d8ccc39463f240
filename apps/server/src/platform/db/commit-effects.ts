import type { DialectAdapter } from 'kysely';
import type { Tally } from '../telemetry/meter.ts';
import { afterCommit, type Executor } from './db.ts';

/** Told of a write once that is committed: to the metrics, and to live streams and webhooks. */
export interface CommitEffect {
  readonly tallies: readonly Tally[];
  /** The developer whose events were written, where any were. */
  readonly eventsOf?: string;
}

type Listener = (effect: CommitEffect) => void;

/** By the adapter of a database, which its transactions share, and its executors with further plugins. */
const listeners = new WeakMap<DialectAdapter, Listener>();

/** @param listener must not throw, since the commit stands. */
export function listenToCommits(db: Executor, listener: Listener): void {
  listeners.set(db.getExecutor().adapter, listener);
}

/** Tells the effect of a write that has been made, after its commit: at once where the write was a transaction. */
export async function tellAfterCommit(db: Executor, effect: CommitEffect): Promise<void> {
  const listener = listeners.get(db.getExecutor().adapter);
  if (!listener) throw new Error('Open databases with openDatabase.');
  await afterCommit(db, () => listener(effect));
}
