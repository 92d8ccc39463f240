import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Caller, Tenant } from '../../platform/caller.ts';
import { AppError } from '../../platform/errors.ts';
import type { EphemeralStore } from '../../platform/redis/ephemeral-store.ts';
import type { Meter } from '../../platform/telemetry/meter.ts';
import { CLOSING, KEEPALIVE } from './events.frames.rules.ts';
import { type Outlet, outlet } from './events.outlet.service.ts';
import { replay } from './events.replay.service.ts';
import { patternsIn } from './events.rules.ts';
import type { EventsDeps } from './events.service.ts';
import { type Tail, tailOf } from './events.tail.service.ts';

export interface StreamsDeps extends EventsDeps {
  readonly store: EphemeralStore;
  readonly meter: Meter;
  /** Whether an API key is still good. Keys are a tier above, so how to ask comes from outside. */
  readonly isKeyGood: (keyHash: Buffer) => Promise<boolean>;
  /** Told when what streams wait for could not be asked. They go on, and it is asked again. */
  readonly onTrouble: (error: unknown) => void;
}

export interface StreamRequest {
  readonly types: string;
  readonly lastEventId: string | undefined;
  readonly keyHash: Buffer;
}

/** The live streams of this process. */
export interface Streams {
  readonly tail: Tail;
  /** @throws BAD_REQUEST, TOO_MANY_CONNECTIONS */
  open(caller: Caller, request: StreamRequest): Promise<Readable>;
  /** Ends all of them, and every one that is opened from now on. */
  close(): Promise<void>;
}

const MOST_OF_A_DEVELOPER = 5; // specification, Events
// In seconds.
const KEEPALIVE_EVERY = 30;
const KEY_CHECKED_EVERY = 60;
/** A place outlives one renewal that failed, and a process that crashed by not much. */
const PLACE_KEPT = 75;
const RETRY_AFTER = 30;
const POLL_EVERY = 1000; // milliseconds, which is what a hint that was lost costs

interface Stream {
  readonly id: string;
  readonly tenant: Tenant;
  readonly keyHash: Buffer;
  readonly outlet: Outlet;
  // Both in epoch milliseconds.
  beatAt: number;
  checkAt: number;
}

export function createStreams(deps: StreamsDeps): Streams {
  const { db, store, clock, meter, isKeyGood, onTrouble } = deps;
  const tail = tailOf(db, onTrouble);
  const streams = new Set<Stream>();
  let timer: NodeJS.Timeout | undefined; // only while there are streams
  let isClosed = false;

  const placeOf = ({ tenant, id }: Pick<Stream, 'tenant' | 'id'>) => ({
    key: `bh:{developer:${tenant.developerId}}:streams`,
    holder: id,
    most: MOST_OF_A_DEVELOPER,
    seconds: PLACE_KEPT,
  });
  const letGo = (stream: Pick<Stream, 'tenant' | 'id'>) => store.letGo(placeOf(stream)).catch(() => {}); // it runs out

  /** While the store is away, each process counts its own. */
  const hold = (stream: Stream) =>
    store.hold(placeOf(stream)).catch((error: unknown) => {
      onTrouble(error);
      return true;
    });
  const takePlace = async (stream: Stream) => {
    const own = [...streams].filter(({ tenant }) => tenant.developerId === stream.tenant.developerId);
    if (own.length > MOST_OF_A_DEVELOPER || !(await hold(stream))) throw tooMany();
  };

  const beat = async (stream: Stream) => {
    stream.outlet.write(KEEPALIVE);
    if (!(await hold(stream))) stream.outlet.end(CLOSING);
  };
  const checkKey = async (stream: Stream) => {
    if (!(await isKeyGood(stream.keyHash))) stream.outlet.end(CLOSING);
  };

  // No part of the request of the first stream, which starts it.
  const look = AsyncLocalStorage.bind(() => {
    tail.wakeAll();
    const now = clock().getTime();
    for (const stream of streams) {
      if (now >= stream.checkAt) {
        stream.checkAt = now + KEY_CHECKED_EVERY * 1000;
        checkKey(stream).catch((error: unknown) => {
          stream.checkAt = now; // soon again: nobody has said that it is good
          onTrouble(error);
        });
      }
      if (now >= stream.beatAt) {
        stream.beatAt = now + KEEPALIVE_EVERY * 1000;
        void beat(stream);
      }
    }
  });

  const add = (stream: Stream) => {
    streams.add(stream);
    timer ??= setInterval(look, POLL_EVERY).unref();
    meter.streamOpened();
  };
  const remove = (stream: Stream) => {
    if (!streams.delete(stream)) return;
    meter.streamClosed();
    void letGo(stream);
    if (streams.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    tail,
    async open({ tenant }, { types, lastEventId, keyHash }) {
      const patterns = patternsIn(types);
      const now = clock().getTime();
      const stream: Stream = {
        id: randomUUID(),
        tenant,
        keyHash,
        outlet: outlet(() => remove(stream)),
        beatAt: now + KEEPALIVE_EVERY * 1000,
        checkAt: now + KEY_CHECKED_EVERY * 1000,
      };
      add(stream);
      try {
        await takePlace(stream);
        await replay({ ...deps, tail }, stream, { patterns, lastEventId });
      } catch (error) {
        stream.outlet.body.destroy();
        throw error;
      }
      if (isClosed) stream.outlet.end(CLOSING);
      return stream.outlet.body;
    },
    async close() {
      isClosed = true;
      const ended = [...streams].map(({ outlet: { body } }) => once(body, 'close'));
      for (const { outlet: each } of streams) each.end(CLOSING);
      await Promise.all(ended);
    },
  };
}

function tooMany(): AppError {
  const message = `An account has ${MOST_OF_A_DEVELOPER} streams at once, retry in ${RETRY_AFTER} seconds`;
  return new AppError('TOO_MANY_CONNECTIONS', message, {
    limit: MOST_OF_A_DEVELOPER,
    retryAfter: RETRY_AFTER,
  });
}
