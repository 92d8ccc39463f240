import type { GrantHolder } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';

const MOST_OF_TOKEN = 20;
const MOST_OF_DEVELOPER = 200;

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
        [tokenId, MOST_OF_TOKEN],
        [developerId, MOST_OF_DEVELOPER],
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
