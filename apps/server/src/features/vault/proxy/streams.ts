import type { GrantHolder } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { CommitNotices } from '../../../platform/db/commit-effects.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
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

const MAX_OF_TOKEN = 20;
const MAX_OF_DEVELOPER = 200;

/** The calls of this process that have begun and not ended. */
export interface Flights {
  /** @returns a function that ends the flight @throws TOO_MANY_CONNECTIONS */
  begin(holder: GrantHolder): () => void;
}

export function createFlights(): Flights {
  const counts = new Map<string, number>();
  const add = (key: string, change: number) => {
    const count = (counts.get(key) ?? 0) + change;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  return {
    begin({ tenant, tokenId }) {
      const { developerId } = tenant;
      for (const [key, limit] of [
        [tokenId, MAX_OF_TOKEN],
        [developerId, MAX_OF_DEVELOPER],
      ] as const) {
        if ((counts.get(key) ?? 0) >= limit) throw tooMany(limit);
      }
      for (const key of [tokenId, developerId]) add(key, 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        for (const key of [tokenId, developerId]) add(key, -1);
      };
    },
  };
}

function tooMany(limit: number) {
  const message = 'Too many calls through the vault proxy are under way, retry in 1 second.';
  return new AppError('TOO_MANY_CONNECTIONS', message, { limit, retryAfter: 1 });
}
