import { AsyncLocalStorage } from 'node:async_hooks';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { StreamedEvent } from './events.outlet.service.ts';
import { listNewAcrossTenants } from './events.repo.ts';

/** Somebody who is told of a developer's events as they come. */
export interface Follower {
  readonly tenant: Tenant;
  /** The number up to which it was told. */
  seq: bigint;
  onEvent(event: StreamedEvent): void;
}

export interface Tail {
  follow(follower: Follower): void;
  leave(follower: Follower): void;
  /** Says that these developers may have new events. */
  wake(developerIds: Iterable<string>): void;
  wakeAll(): void;
}

/** Of each developer in one trip. Who has more is asked about again at once. */
const MOST_OF_EACH = 100;

/**
 * Reads what is new for all followers of this process, one trip at a time: while one is under way, those who are
 * woken wait for the next. Where to go on is the followers' own, so who joins late or reads slowly misses nothing.
 * @param onTrouble told once each time when trips begin to fail. The next waking tries again.
 */
export function tailOf(db: Executor, onTrouble: (error: unknown) => void): Tail {
  const followers = new Map<string, Set<Follower>>();
  const woken = new Set<string>();
  let isReading = false;
  let isTroubled = false;

  const read = async () => {
    const positions = [...woken].flatMap((developerId) => {
      const [first, ...rest] = followers.get(developerId) ?? [];
      if (!first) return [];
      const least = rest.reduce((seq, each) => (each.seq < seq ? each.seq : seq), first.seq);
      return [{ developerId, after: String(least) }];
    });
    woken.clear();
    if (positions.length === 0) return;
    const rows = await listNewAcrossTenants(db, positions, MOST_OF_EACH);
    for (const [developerId, own] of Map.groupBy(rows, (row) => row.developerId)) {
      if (own.length === MOST_OF_EACH) woken.add(developerId);
      for (const { seq, ...event } of own) {
        for (const follower of [...(followers.get(developerId) ?? [])]) {
          if (BigInt(seq) <= follower.seq) continue;
          follower.seq = BigInt(seq);
          follower.onEvent(event);
        }
      }
    }
  };

  // Wherever it is called: what it asks is asked for all, and no part of the request that woke it.
  const readAll = AsyncLocalStorage.bind(async () => {
    if (isReading) return;
    isReading = true;
    try {
      while (woken.size > 0) await read();
      isTroubled = false;
    } catch (error) {
      if (!isTroubled) onTrouble(error);
      isTroubled = true;
    } finally {
      isReading = false;
    }
  });

  const wake = (developerIds: Iterable<string>) => {
    for (const developerId of developerIds) if (followers.has(developerId)) woken.add(developerId);
    if (woken.size > 0) void readAll();
  };

  return {
    follow(follower) {
      const { developerId } = follower.tenant;
      followers.set(developerId, (followers.get(developerId) ?? new Set()).add(follower));
      wake([developerId]); // of what was committed while it was on its way here
    },
    leave(follower) {
      const { developerId } = follower.tenant;
      const own = followers.get(developerId);
      own?.delete(follower);
      if (own?.size === 0) followers.delete(developerId);
    },
    wake,
    wakeAll: () => wake([...followers.keys()]),
  };
}
