import type { DialectAdapter } from 'kysely';
import type { Tally } from '../telemetry/meter.ts';
import { afterCommit, type Executor } from './db.ts';

/** The effect of a committed write, for the metrics, live streams and webhooks. */
export interface CommitEffect {
  readonly tallies: readonly Tally[];
  /** The developer whose events were written, if any were. */
  readonly eventsOf?: string;
  /** The developer whose chain has new entries, if there is no event that says so. */
  readonly entriesOf?: string;
}

type Listener = (effect: CommitEffect) => void;

/** By a database's adapter, which its transactions and its executors with further plugins share. */
const listeners = new WeakMap<DialectAdapter, Listener>();

/** @param listener must not throw, because the commit stands */
export function listenToCommits(db: Executor, listener: Listener): void {
  listeners.set(db.getExecutor().adapter, listener);
}

/** Calls the listener after the commit of a write: at once when the write was its own transaction. */
export async function tellAfterCommit(db: Executor, effect: CommitEffect): Promise<void> {
  const listener = listeners.get(db.getExecutor().adapter);
  if (!listener) throw new Error('Open databases with openDatabase.');
  await afterCommit(db, () => listener(effect));
}

/** @param tallies what this process has counted of them; none for the events of another process */
type NoticeListener = (developerIds: readonly string[], tallies: readonly Tally[]) => void;

/** Tells listeners in this process at once whose events were committed. */
export interface CommitNotices {
  notify(developerIds: readonly string[], tallies?: readonly Tally[]): void;
  listen(listener: NoticeListener): void;
  /** Says that a chain has entries of which no event tells. */
  notifyOfEntries(developerId: string): void;
  /** Listens for new entries of chains. Some that no statement of this process names are not among them. */
  listenToEntries(listener: (developerId: string) => void): void;
}

export function commitNotices(): CommitNotices {
  const listeners: NoticeListener[] = [];
  const ofEntries: ((developerId: string) => void)[] = [];
  return {
    notify(developerIds, tallies = []) {
      if (developerIds.length > 0) for (const listener of listeners) listener(developerIds, tallies);
    },
    listen: (listener) => void listeners.push(listener),
    notifyOfEntries(developerId) {
      for (const listener of ofEntries) listener(developerId);
    },
    listenToEntries(listener) {
      ofEntries.push(listener);
      listeners.push((developerIds) => developerIds.forEach(listener));
    },
  };
}
