import { randomUUID } from 'node:crypto';
import type { CommitNotices } from '../../../platform/db/commit-effects.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { listenToCommits } from './announce.ts';

/** Requests that wait for something to happen, by developer. */
export interface Waits {
  /** A seat at a subject in this process, until it is disposed of. @returns undefined when there is none left */
  seat(developerId: string, subjectId: string): Disposable | undefined;
  /** Resolves when it has happened in any process, at the abort, or after a second, because a hint may get lost. */
  next(developerId: string, signal: AbortSignal): Promise<void>;
}

const LOOKS_EVERY_MS = 1000;
/** Each look of a waiting request costs a statement, and each commit of the developer wakes all of them. */
const SEATS = { ofSubject: 2, ofDeveloper: 20, ofProcess: 1000 };

/** Waits for the developer's next commit. */
export function createWaits(deps: {
  readonly store: EphemeralStore;
  readonly notices: CommitNotices;
}): Waits {
  const { release, ...waits } = newWaits();
  listenToCommits(deps, (developerIds) => developerIds.forEach(release));
  return waits;
}

/** Waits that end when a process says so. */
export interface CalledWaits extends Waits {
  /** Ends the waits of a developer: at once in this process, and by a hint in the others. */
  call(developerId: string): void;
}

/** @param channel of the hints */
export function createCalledWaits(store: EphemeralStore, channel: string): CalledWaits {
  const { release, ...waits } = newWaits();
  const self = randomUUID();
  store.subscribe(channel, (hint) => {
    const [caller, developerId = ''] = hint.split(' ');
    if (caller !== self) release(developerId);
  });
  return {
    ...waits,
    call(developerId) {
      release(developerId);
      store.publish(channel, `${self} ${developerId}`).catch(() => {}); // a lost hint costs a second
    },
  };
}

function newWaits(): Waits & { release(developerId: string): void } {
  const waiting = new Map<string, Set<() => void>>();
  const taken = new Map<string, number>();
  const add = (one: string, change: 1 | -1) => {
    const now = (taken.get(one) ?? 0) + change;
    if (now > 0) taken.set(one, now);
    else taken.delete(one);
  };
  return {
    release(developerId) {
      for (const end of waiting.get(developerId) ?? []) end();
    },
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
