import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { CommitNotices } from '../../../platform/db/commit-effects.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Tail } from './tail.ts';

const CHANNEL = 'bh:events';
const PAUSE = 20; // milliseconds between two hints, so that many commits share one

interface ListenDeps {
  readonly store: EphemeralStore;
  readonly notices: CommitNotices;
}

export interface AnnounceDeps extends ListenDeps {
  readonly tail: Tail;
}

/**
 * Hears of commits of this process, and of those that others announce. A hint may get lost, so a listener also looks by
 * itself from time to time.
 */
export function listenToCommits(
  { store, notices }: ListenDeps,
  listener: (developerIds: readonly string[]) => void,
): void {
  notices.listen(listener);
  store.subscribe(CHANNEL, (hint) => listener(hintIn(hint).slice(1)));
}

/**
 * Wakes streams after a commit, in this process and through a hint in the others. The first commit sends a hint at once.
 * Commits that come while it is on its way share the next hint. A lost hint costs a second, after which streams look by
 * themselves.
 * @returns a function that stops it
 */
export function announceCommits({ store, notices, tail }: AnnounceDeps): () => void {
  const self = randomUUID();
  const own = `["${self}"`;
  const waiting = new Set<string>();
  let isPublishing = false;

  const publishAll = async () => {
    if (isPublishing) return;
    isPublishing = true;
    while (waiting.size > 0) {
      const hint = JSON.stringify([self, ...waiting]);
      waiting.clear();
      await store.publish(CHANNEL, hint).catch(() => {});
      await delay(PAUSE, undefined, { ref: false });
    }
    isPublishing = false;
  };

  notices.listen((developerIds) => {
    tail.wake(developerIds);
    for (const developerId of developerIds) waiting.add(developerId);
    void publishAll();
  });
  return store.subscribe(CHANNEL, (hint) => {
    if (!hint.startsWith(own)) tail.wake(hintIn(hint).slice(1));
  });
}

/**
 * The publisher and the developer ids in a hint. A message of another form, as of another release, has no
 * ids.
 */
function hintIn(text: string): string[] {
  try {
    const parts: unknown = JSON.parse(text);
    return Array.isArray(parts) ? parts.filter((part) => typeof part === 'string') : [];
  } catch {
    return [];
  }
}
