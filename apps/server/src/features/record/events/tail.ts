import { AsyncLocalStorage } from 'node:async_hooks';
import { isWithin, type Reach } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { aboutAllAgents } from './catalogue.rules.ts';
import { listNewAcrossTenants } from './events.repo.ts';
import type { StreamedEvent } from './outlet.ts';

/** Receives the events within its reach as they are committed. */
export interface Follower extends Reach {
  /** The number of the last event that it received. */
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

/** Events of one developer in one read. A developer with more events is read again at once. */
const MAX_OF_EACH = { events: 100, bytes: 256 * 1024 };
/** Developers in one read. The bounds together keep a read below some megabytes. */
const MAX_DEVELOPERS = 16;

/**
 * Reads new events for all followers of this process, one read at a time: developers that are woken during a
 * read wait for the next. Each follower has its own position, so a follower that joins late or is slow misses
 * nothing.
 * @param onTrouble called once when reads begin to fail. The next wake tries again.
 */
export function tailOf(db: Executor, onTrouble: (error: unknown) => void): Tail {
  const followers = new Map<string, Set<Follower>>();
  const woken = new Set<string>();
  let isReading = false;
  let isTroubled = false;

  const read = async () => {
    const turn = [...woken].slice(0, MAX_DEVELOPERS);
    for (const developerId of turn) woken.delete(developerId); // a wake during the read counts for the next one
    const positions = turn.flatMap((developerId) => {
      const [first, ...rest] = followers.get(developerId) ?? [];
      if (!first) return [];
      const least = rest.reduce((seq, each) => (each.seq < seq ? each.seq : seq), first.seq);
      return [{ developerId, after: String(least) }];
    });
    if (positions.length === 0) return;
    const rows = await listNewAcrossTenants(db, positions, MAX_OF_EACH);
    for (const [developerId, own] of Map.groupBy(rows, (row) => row.developerId)) {
      if (own.length === MAX_OF_EACH.events || !own.at(-1)?.hasRoom) woken.add(developerId);
      for (const { seq, agentId, hasRoom: _, ...event } of own) {
        for (const follower of [...(followers.get(developerId) ?? [])]) {
          if (BigInt(seq) <= follower.seq) continue;
          follower.seq = BigInt(seq);
          if (isWithin(follower, agentId) || aboutAllAgents.includes(event.type)) follower.onEvent(event);
        }
      }
    }
  };

  // A read serves all followers, so it is bound outside the context of the request that woke it.
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
      wake([developerId]); // for events that were committed before it joined
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
