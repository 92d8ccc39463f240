import type { GrantHolder } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { CommitNotices } from '../../../platform/db/commit-notices.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { isTokenLive } from './calls.repo.ts';

export interface StreamDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly notices: CommitNotices;
  readonly logger?: Logger;
}

const EVERY_MS = 30_000;
const AT_ONCE_MS = 100; // commits of a developer within this time are one reason to look

/** The streams of events that are open through the proxy. */
export interface Streams {
  /**
   * Looks again and again whether the grant is still live.
   * @param cut called once when it is not
   * @returns a function that stops looking
   */
  watch(holder: GrantHolder, cut: () => void): () => void;
}

/** Looks every half minute, and soon after each commit of this process for the developer. */
export function createStreams({ db, clock, notices, logger }: StreamDeps): Streams {
  const looks = new Map<string, Set<() => void>>();
  const waiting = new Set<string>();
  notices.listen((developerIds) => {
    for (const id of developerIds) {
      if (!looks.has(id) || waiting.has(id)) continue;
      waiting.add(id);
      setTimeout(() => {
        waiting.delete(id);
        for (const look of looks.get(id) ?? []) look();
      }, AT_ONCE_MS).unref();
    }
  });
  return {
    watch({ tenant, tokenId }, cut) {
      const { developerId } = tenant;
      const look = () => {
        isTokenLive(db, tenant, tokenId, clock())
          .then((isLive) => isLive || cut())
          .catch((err: unknown) => logger?.warn({ err }, 'a stream through the vault proxy was not checked'));
      };
      const its = looks.get(developerId) ?? new Set();
      looks.set(developerId, its.add(look));
      const timer = setInterval(look, EVERY_MS).unref();
      return () => {
        clearInterval(timer);
        its.delete(look);
        if (its.size === 0) looks.delete(developerId);
      };
    },
  };
}
