import { randomUUID, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { NoteChange } from '../../caller.ts';
import type { Clock } from '../../clock.ts';
import { hashOf } from '../../ids.ts';
import type { EphemeralStore, Watch } from '../../redis/ephemeral-store.ts';
import type { FindHolder, Holder } from './credentials.ts';

const MOST = 10_000; // keys, of some 500 bytes each
/** How long an answer of the database is used, in milliseconds, when the notice of a change did not reach Redis. */
const LONGEST = 10_000;
const VERSION_SECONDS = 86_400; // one that has run out is replaced, and what was kept under it is read again
const NOBODY = Buffer.alloc(32);

/** Changes with every change of any developer. */
const CHANGES = 'bh:callers:changes';
const versionKeyOf = (developerId: string) => `bh:{developer:${developerId}}:version`;

/** What a spend saw of versions. None while Redis is away. */
export interface Sighting {
  readonly isStale: boolean;
  readonly changes: string;
  readonly version: string | undefined;
}

interface Known extends Pick<Holder, 'caller'> {
  readonly hash: Buffer;
  readonly version: string;
  readonly learntAt: number; // epoch milliseconds, as the next
  readonly until: number;
}

/** One key in one request. */
export interface PresentedKey {
  /** Good only if the store still holds the version that is watched. */
  readonly recalled: Holder['caller'] | undefined;
  /** For the first trip to the store, with the address. */
  readonly watch: Watch;
  /** Asks the database. @param first what the first trip saw */
  load(first: Sighting | undefined): Promise<Loaded | undefined>;
}

interface Loaded extends Pick<Holder, 'caller'> {
  /** For the second trip, with what the developer is charged. */
  readonly watch: Watch;
  /** Keeps what was read, unless something may have changed since the first trip. */
  keep(second: Sighting | undefined): void;
}

export interface KnownCallers {
  present(apiKey: string): PresentedKey;
  forgetAll(): void;
}

/**
 * What API keys stand for, as this process read it last, by the hash of the key. Every use is checked against the
 * developer's version in Redis, in the trip that counts the request; a change writes a new one before it is
 * answered. A version is chance and no count, so that a Redis which lost its data never repeats one.
 *
 * Whose a key is, is known only once the database has said so, which is too late to read the version first. Hence
 * a second one for all developers, read before and after: where it is the same, nothing changed meanwhile.
 */
export function knownCallers(
  store: EphemeralStore,
  find: FindHolder,
  clock: Clock,
  onLookUp: (isHit: boolean) => void = () => {},
): KnownCallers {
  const known = new LRUCache<string, Known>({ max: MOST });
  let losses = 0;
  const forgetAll = () => {
    losses += 1;
    known.clear();
  };
  store.onLost(forgetAll);

  const recall = (name: string, hash: Buffer) => {
    const entry = known.get(name);
    // The map has compared already; this comparison takes the same time for a hit and for a miss.
    const isSame = timingSafeEqual(entry?.hash ?? NOBODY, hash);
    const now = clock().getTime();
    return entry && isSame && entry.learntAt <= now && now < entry.until ? entry : undefined;
  };

  return {
    present(apiKey) {
      const hash = hashOf(apiKey);
      const name = hash.toString('base64url');
      const entry = recall(name, hash);
      onLookUp(entry !== undefined);
      const lossesBefore = losses;
      return {
        recalled: entry?.caller,
        watch: entry
          ? { ...watching(CHANGES, versionKeyOf(entry.caller.tenant.developerId)), expected: entry.version }
          : watching(CHANGES),
        async load(first) {
          known.delete(name);
          const learntAt = clock().getTime();
          const holder = await find(hash);
          if (!holder) return undefined;
          const { caller, readAgainAt } = holder;
          const keep = (second: Sighting | undefined) => {
            if (!first || !second?.version || first.changes !== second.changes || losses !== lossesBefore)
              return;
            const until = Math.min(learntAt + LONGEST, readAgainAt.getTime());
            known.set(name, { hash, caller, version: second.version, learntAt, until });
          };
          return { caller, watch: watching(CHANGES, versionKeyOf(caller.tenant.developerId)), keep };
        },
      };
    },
    forgetAll,
  };
}

const watching = (...keys: string[]): Watch => ({ keys, fresh: randomUUID(), seconds: VERSION_SECONDS });

/**
 * To be called after the commit and before the answer, when what authentication learned of a developer's keys has
 * changed: from then on every instance reads it again. @param onLost the change is committed, and Redis does not
 * know of it: other instances that reach it may go on for `LONGEST`.
 */
export function notingChanges(store: EphemeralStore, onLost: (error: unknown) => void): NoteChange {
  return async ({ developerId }) => {
    const value = randomUUID();
    const keys = [CHANGES, versionKeyOf(developerId)];
    await store.put(keys.map((key) => ({ key, value, seconds: VERSION_SECONDS }))).catch(onLost);
  };
}
