import { randomUUID, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PublishChange, Tenant } from '../../caller.ts';
import type { Clock } from '../../clock.ts';
import type { EphemeralStore, VersionCheck } from '../../redis/ephemeral-store.ts';
import type { FindKeyCaller, Identity } from './credentials.ts';

const MOST = 10_000; // keys, of some 500 bytes each, and 2 kB more when bound to 50 agents
/** Milliseconds for which a read from the database counts, if the notice of a change did not reach Redis. */
const LONGEST = 10_000;
const VERSION_SECONDS = 86_400; // an expired version is replaced, and its keys are read again
const NOBODY = Buffer.alloc(32);

const versionKeyOf = ({ developerId }: Tenant) => `bh:{developer:${developerId}}:version`;

/** The version of one developer. It changes when a key or the plan of that developer does. */
export const developerVersion = (tenant: Tenant, expected?: string): VersionCheck => ({
  key: versionKeyOf(tenant),
  fresh: randomUUID(),
  seconds: VERSION_SECONDS,
  ...(expected !== undefined && { expected }),
});

/** The caller that was last read for a key. */
export interface KnownCaller {
  readonly identity: Identity;
  /** The caller is good only while the developer has this version. Without one it says only whose key it is. */
  readonly version: string | undefined;
}

export interface KnownCallers {
  recall(keyHash: Buffer): KnownCaller | undefined;
  forgetAll(): void;
  /** Asks the database. */
  read(keyHash: Buffer): Promise<ReadCaller | undefined>;
}

export interface ReadCaller {
  readonly identity: Identity;
  /** Remembers the caller. @param versions of the developer, before and after the database was asked */
  keep(versions: { readonly before: string | undefined; readonly after: string | undefined }): void;
}

interface Entry extends KnownCaller {
  readonly keyHash: Buffer;
  readonly learntAt: number; // epoch milliseconds, as the next
  readonly until: number;
}

/**
 * Remembers the callers of API keys by the hash of the key, as this process read them last. Each use is
 * checked against the developer's version in Redis, in the trip that counts the request or leased its counts. A
 * change replaces the version before it is answered. A version is random and no count, so that a Redis which
 * lost its data never repeats one.
 *
 * A caller is good when the developer had the same version before and after the database was asked: nothing has
 * changed meanwhile. Only the database knows the developer of a new key, which is too late to read the version
 * first. Until its second use, such a key is remembered with its developer only.
 */
export function knownCallers(
  store: EphemeralStore,
  find: FindKeyCaller,
  clock: Clock,
  onLookUp: (isHit: boolean) => void = () => {},
): KnownCallers {
  const entries = new LRUCache<string, Entry>({ max: MOST });
  let losses = 0;
  const forgetAll = () => {
    losses += 1;
    entries.clear();
  };
  store.onLost(forgetAll);

  return {
    recall(keyHash) {
      const entry = entries.get(nameOf(keyHash));
      // The map has compared already. This comparison takes the same time for a hit and for a miss.
      const isSame = timingSafeEqual(entry?.keyHash ?? NOBODY, keyHash);
      const now = clock().getTime();
      const isInTime = entry !== undefined && entry.learntAt <= now && now < entry.until;
      const isGood = isSame && isInTime && entry.version !== undefined;
      onLookUp(isGood);
      if (entry === undefined || !isSame) return undefined;
      return isGood ? entry : { identity: entry.identity, version: undefined };
    },
    forgetAll,
    async read(keyHash) {
      const lossesBefore = losses;
      const learntAt = clock().getTime();
      const keyCaller = await find(keyHash);
      if (!keyCaller) {
        entries.delete(nameOf(keyHash));
        return undefined;
      }
      const { caller: identity, readAgainAt } = keyCaller;
      return {
        identity,
        keep({ before, after }) {
          const isUnchanged = before === after && losses === lossesBefore;
          const until = Math.min(learntAt + LONGEST, readAgainAt.getTime());
          const version = isUnchanged ? after : undefined;
          entries.set(nameOf(keyHash), { keyHash, identity, version, learntAt, until });
        },
      };
    },
  };
}

const nameOf = (keyHash: Buffer) => keyHash.toString('latin1'); // a character for each byte, the cheapest text

/**
 * Call it after the commit of a change to a developer's keys or plan, and wait for it before the answer: from then
 * on every instance reads them again.
 * @param onLost called when Redis does not learn of the committed change: instances that reach Redis may use
 *   the old caller for `LONGEST`
 */
export function changePublisher(store: EphemeralStore, onLost: (error: unknown) => void): PublishChange {
  return async (tenant) => {
    const version = { key: versionKeyOf(tenant), value: randomUUID(), seconds: VERSION_SECONDS };
    await store.replaceVersion(version).catch(onLost);
  };
}
