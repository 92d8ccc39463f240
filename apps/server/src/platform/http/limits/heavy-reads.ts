import { finished, Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { AppError } from '../../errors.ts';
import { type FairPlaces, fairPlaces } from '../../fair-places.ts';
import { tenantIn } from '../callers/credentials.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its answer is made of many entries, so only a few run at a time. A function says for which requests that is so. */
    isHeavy?: true | ((request: FastifyRequest) => boolean);
  }
  interface FastifyRequest {
    heavyRead: HeavyRead | null;
  }
}

/** A heavy read that has one of the places. */
interface HeavyRead {
  /** Lets other requests go first. */
  pause(): Promise<void>;
  /** Gives the place to others while the client takes what was sent. */
  give(): void;
  /** Waits for a place again, until the client has left: half of an answer is of no use. */
  take(): Promise<void>;
  end(): void;
}

const MAX_CONNECTIONS = 3;
const MAX_PER_DEVELOPER = 2;
const MAX_PER_SESSION = 1;
/** Of two places, no account takes both. Where there is one, they wait for it in turns. */
const perDeveloper = (most: number) => (most === 2 ? 1 : MAX_PER_DEVELOPER);
const LONGEST_WAIT = 10_000; // milliseconds
const RETRY_AFTER = 1; // seconds

/** Most connections of the pool stay free for other requests. */
const placesIn = (poolMax: number) =>
  poolMax < 2 * MAX_CONNECTIONS ? Math.max(1, Math.floor(poolMax / 2)) : MAX_CONNECTIONS;

/**
 * Admits the requests of routes that declare `isHeavy`. Add it before the routes. Each holds a place, and so at most
 * one connection, from before its handler until its answer is a text or, of one that is made while it is sent, its end.
 */
export function addHeavyReads(app: FastifyInstance, poolMax: number): void {
  const most = placesIn(poolMax);
  const places = fairPlaces(most, LONGEST_WAIT);
  const reads = new Map<string, number>();

  const begin = async (request: FastifyRequest) => {
    const { isHeavy } = request.declared;
    if (typeof isHeavy === 'function' && !isHeavy(request)) return;
    const developerId = tenantIn(request)?.developerId ?? '';
    const limits: [string, number][] = [[developerId, perDeveloper(most)]];
    if (request.caller?.kind === 'session') limits.push([request.caller.caller.sessionId, MAX_PER_SESSION]);
    for (const [reader, limit] of limits) if ((reads.get(reader) ?? 0) >= limit) throw tooMany(limit);

    for (const [reader] of limits) count(reads, reader, 1);
    const leave = () => {
      for (const [reader] of limits) count(reads, reader, -1);
    };
    if (!(await places.take(developerId))) {
      leave();
      throw tooMany(most);
    }
    request.heavyRead = readAt(places, developerId, most, leave);
  };
  const end = (request: FastifyRequest, _reply: unknown, payload: unknown, done: () => void) => {
    const read = request.heavyRead;
    if (payload instanceof Readable) finished(payload, () => read?.end());
    else read?.end();
    done();
  };

  app.decorateRequest('heavyRead', null);
  app.addHook('onRoute', (route: RouteOptions) => {
    if (!route.config?.isHeavy) return;
    const [before, after] = [[route.preHandler ?? []].flat(), [route.onSend ?? []].flat()];
    if (before.includes(begin)) return; // the route of HEAD, which Fastify makes of that of GET
    route.preHandler = [...before, begin];
    route.onSend = [...after, end];
  });
}

function readAt(places: FairPlaces, developerId: string, most: number, leave: () => void): HeavyRead {
  let hasPlace = true;
  let isOver = false;
  const give = () => {
    if (hasPlace) places.give();
    hasPlace = false;
  };
  return {
    give,
    async take() {
      while (!hasPlace && !isOver) hasPlace = await places.take(developerId);
      if (isOver) give(); // the client left while the read waited
    },
    async pause() {
      give();
      await nextTurn();
      hasPlace = await places.take(developerId);
      if (!hasPlace) throw tooMany(most);
    },
    end() {
      if (isOver) return;
      isOver = true;
      give();
      leave();
    },
  };
}

function count(reads: Map<string, number>, reader: string, change: number): void {
  const now = (reads.get(reader) ?? 0) + change;
  if (now > 0) reads.set(reader, now);
  else reads.delete(reader);
}

/**
 * Lets other requests go first, in the middle of a heavy read.
 * @throws TOO_MANY_CONNECTIONS after a long wait, BAD_REQUEST when the client has left, for whom the rest is in vain
 */
export async function pauseOf({ heavyRead, pattern, raw }: FastifyRequest): Promise<void> {
  if (!heavyRead) throw new Error(`${pattern} is no heavy read.`);
  await heavyRead.pause();
  if (raw.socket.destroyed) throw new AppError('BAD_REQUEST', 'The client has left.');
}

function tooMany(limit: number): AppError {
  const message = `Too many heavy reads run at once, retry in ${RETRY_AFTER} seconds`;
  return new AppError('TOO_MANY_CONNECTIONS', message, { limit, retryAfter: RETRY_AFTER });
}
