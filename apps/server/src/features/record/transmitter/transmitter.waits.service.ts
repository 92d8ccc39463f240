import type { CommitNotices } from '../../../platform/db/commit-notices.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { listenToCommits } from '../events/index.ts';

/** Polls that wait for a signal, by developer. */
export interface Waits {
  /** Resolves at the developer's next commit in any process, at the abort, or after a second, because a hint may get lost. */
  next(developerId: string, signal: AbortSignal): Promise<void>;
}

const LOOKS_EVERY_MS = 1000;

export function createWaits(deps: {
  readonly store: EphemeralStore;
  readonly notices: CommitNotices;
}): Waits {
  const waiting = new Map<string, Set<() => void>>();
  listenToCommits(deps, (developerIds) => {
    for (const id of developerIds) for (const release of waiting.get(id) ?? []) release();
  });
  return {
    next: (developerId, signal) =>
      new Promise((resolve) => {
        const its = waiting.get(developerId) ?? new Set();
        const release = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', release);
          its.delete(release);
          if (its.size === 0) waiting.delete(developerId);
          resolve();
        };
        const timer = setTimeout(release, LOOKS_EVERY_MS);
        waiting.set(developerId, its.add(release));
        if (signal.aborted) release();
        else signal.addEventListener('abort', release);
      }),
  };
}
