import type { CommitNotices } from '../../../platform/db/commit-effects.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { listenToCommits } from './announce.ts';

/** Requests that wait for something to happen, by developer. */
export interface Waits {
  /** A seat at a subject in this process, until it is disposed of. @returns undefined when there is none left */
  seat(developerId: string, subjectId: string): Disposable | undefined;
  /** Resolves at the developer's next commit in any process, at the abort, or after a second, because a hint may get lost. */
  next(developerId: string, signal: AbortSignal): Promise<void>;
}

const LOOKS_EVERY_MS = 1000;
/** Each look of a waiting request costs a statement, and each commit of the developer wakes all of them. */
const SEATS = { ofSubject: 2, ofDeveloper: 20, ofProcess: 1000 };

export function createWaits(deps: {
  readonly store: EphemeralStore;
  readonly notices: CommitNotices;
}): Waits {
  const waiting = new Map<string, Set<() => void>>();
  const taken = new Map<string, number>();
  const add = (one: string, change: 1 | -1) => {
    const now = (taken.get(one) ?? 0) + change;
    if (now > 0) taken.set(one, now);
    else taken.delete(one);
  };
  listenToCommits(deps, (developerIds) => {
    for (const id of developerIds) for (const release of waiting.get(id) ?? []) release();
  });
  return {
    seat(developerId, subjectId) {
      const subject = `${developerId} ${subjectId}`;
      const bounds = [
        ['all', SEATS.ofProcess],
        [developerId, SEATS.ofDeveloper],
        [subject, SEATS.ofSubject],
      ] as const;
      if (bounds.some(([one, most]) => (taken.get(one) ?? 0) >= most)) return undefined;
      for (const [one] of bounds) add(one, 1);
      let isLeft = false;
      return {
        [Symbol.dispose]() {
          if (isLeft) return;
          isLeft = true;
          for (const [one] of bounds) add(one, -1);
        },
      };
    },
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
