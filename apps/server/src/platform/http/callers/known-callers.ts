import { randomUUID, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PublishChange, Tenant } from '../../caller.ts';
import type { Clock } from '../../clock.ts';
import type { EphemeralStore, VersionCheck } from '../../redis/ephemeral-store.ts';
import type { FindKeyCaller, Identity } from './credentials.ts';

const MOST = 10_000; // keys, of some 500 bytes each
/** Milliseconds for which a read from the database counts, if the notice of a change did not reach Redis. */
const LONGEST = 10_000;
const VERSION_SECONDS = 86_400; // an expired version is replaced, and its keys are read again
const NOBODY = Buffer.alloc(32);

/** Changes with every change of any developer. */
const CHANGES = 'bh:callers:changes';
const versionKeyOf = ({ developerId }: Tenant) => `bh:{developer:${developerId}}:version`;

/** The version of all developers together. */
export const changesVersion = (): VersionCheck => versionAt(CHANGES);

/** The version of one developer. It changes when a key or the plan of that developer does. */
export const developerVersion = (tenant: Tenant, expected?: string): VersionCheck => ({
  ...versionAt(versionKeyOf(tenant)),
  ...(expected !== undefined && { expected }),
});

const versionAt = (key: string) => ({ key, fresh: randomUUID(), seconds: VERSION_SECONDS });

/** The caller that was last read for a key. It is good only while the developer's version stays the same. */
export interface KnownCaller {
  readonly identity: Identity;
  readonly version: string;
}

export interface KnownCallers {
  recall(keyHash: Buffer): KnownCaller | undefined;
  forget(keyHash: Buffer): void;
  forgetAll(): void;
  /** Asks the database. @param changes the version of all developers, read before */
  read(keyHash: Buffer, changes: string | undefined): Promise<ReadCaller | undefined>;
}

export interface ReadCaller {
  readonly identity: Identity;
  /**
   * Remembers a caller, unless something may have changed meanwhile.
   * @param seen versions, read afterwards
   */
  keep(seen: { readonly changes: string | undefined; readonly version: string | undefined }): void;
}

interface Entry extends KnownCaller {
  readonly keyHash: Buffer;
  readonly learntAt: number; // epoch milliseconds, as the next
  readonly until: number;
}

/**
 * Remembers the callers of API keys by the hash of the key, as this process read them last. Each use is
 * checked against the developer's version in Redis, in the trip that counts the request. A change writes a
 * new version before it is answered. A version is random and no count, so that a Redis which lost its data
 * never repeats one.
 *
 * Only the database knows the developer of an unknown key, which is too late to read that developer's version
 * first. Hence all developers share another version, which is read before and after. If it is the same,
 * nothing has changed meanwhile.
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
      const isGood = entry !== undefined && isSame && entry.learntAt <= now && now < entry.until;
      onLookUp(isGood);
      return isGood ? entry : undefined;
    },
    forget: (keyHash) => void entries.delete(nameOf(keyHash)),
    forgetAll,
    async read(keyHash, changes) {
      const lossesBefore = losses;
      const learntAt = clock().getTime();
      const keyCaller = await find(keyHash);
      if (!keyCaller) return undefined;
      const { caller: identity, readAgainAt } = keyCaller;
      return {
        identity,
        keep(seen) {
          const isUnchanged = changes !== undefined && changes === seen.changes && losses === lossesBefore;
          if (!isUnchanged || seen.version === undefined) return;
          const until = Math.min(learntAt + LONGEST, readAgainAt.getTime());
          entries.set(nameOf(keyHash), { keyHash, identity, version: seen.version, learntAt, until });
        },
      };
    },
  };
}

const nameOf = (keyHash: Buffer) => keyHash.toString('base64url');

/**
 * Call it after the commit of a change to a developer's keys or plan, and before the answer: from then on
 * every instance reads them again.
 * @param onLost called when Redis does not learn of the committed change: instances that reach Redis may use
 *   the old caller for `LONGEST`
 */
export function changePublisher(store: EphemeralStore, onLost: (error: unknown) => void): PublishChange {
  return async (tenant) => {
    const value = randomUUID();
    const keys = [CHANGES, versionKeyOf(tenant)];
    await store.put(keys.map((key) => ({ key, value, seconds: VERSION_SECONDS }))).catch(onLost);
  };
}
