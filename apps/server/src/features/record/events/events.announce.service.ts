import { randomUUID } from 'node:crypto';
import type { CommitNotices } from '../../../platform/db/commit-notices.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Tail } from './events.tail.service.ts';

const CHANNEL = 'bh:events';

export interface AnnounceDeps {
  readonly store: EphemeralStore;
  readonly notices: CommitNotices;
  readonly tail: Tail;
}

/**
 * Wakes streams as soon as something is committed, here and in the other processes. What is committed while a hint is
 * on its way shares the next one. A hint that is lost costs a second, after which streams look by themselves.
 * @returns what ends it.
 */
export function announceCommits({ store, notices, tail }: AnnounceDeps): () => void {
  const self = randomUUID();
  const waiting = new Set<string>();
  let isPublishing = false;

  const publishAll = async () => {
    if (isPublishing) return;
    isPublishing = true;
    while (waiting.size > 0) {
      const hint = JSON.stringify([self, ...waiting]);
      waiting.clear();
      await store.publish(CHANNEL, hint).catch(() => {});
    }
    isPublishing = false;
  };

  notices.listen((developerIds) => {
    tail.wake(developerIds);
    for (const developerId of developerIds) waiting.add(developerId);
    void publishAll();
  });
  return store.subscribe(CHANNEL, (hint) => {
    const [publisher, ...developerIds] = hintIn(hint);
    if (publisher !== self) tail.wake(developerIds);
  });
}

/** Of whoever else speaks on the channel, such as another release, there is none in it. */
function hintIn(text: string): string[] {
  try {
    const parts: unknown = JSON.parse(text);
    return Array.isArray(parts) ? parts.filter((part) => typeof part === 'string') : [];
  } catch {
    return [];
  }
}
