import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Outlet } from './events.outlet.service.ts';
import { beginningOf, replay } from './events.replay.service.ts';
import { filterIn, patternsIn } from './events.rules.ts';
import type { EventsDeps } from './events.service.ts';
import { type Tail, tailOf } from './events.tail.service.ts';

/** Counts the live streams of this process. */
export interface StreamMeter {
  streamOpened(): void;
  streamClosed(): void;
  /** To one stream. */
  eventSent(): void;
}

export interface StreamsDeps extends EventsDeps {
  readonly store: EphemeralStore;
  readonly meter: StreamMeter;
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

/** Begins to answer. Through `choose` the consumer says what else it wants to be told of, from then on. */
type Connect = (choose: (patterns: readonly string[]) => void) => Outlet;

/** The live streams of this process, whatever their protocol. */
export interface Streams {
  readonly tail: Tail;
  /** The patterns that a message of the consumer asks for; undefined for any other message. */
  filterIn(text: Buffer): string[] | undefined;
  /**
   * Calls `connect` when it is known where the stream begins, so that whatever is committed after the answer is in it.
   * @throws BAD_REQUEST, TOO_MANY_CONNECTIONS
   */
  open(caller: Caller, request: StreamRequest, connect: Connect): Promise<void>;
  /** Ends all of them, and every one that is opened from now on. */
  close(): Promise<void>;
}

const MOST_OF_A_DEVELOPER = 5; // specification, Events
// In seconds.
const KEEPALIVE_EVERY = 30;
const KEY_CHECKED_EVERY = 60;
/** A slot outlives one renewal that failed, and a process that crashed by not much. */
const SLOT_KEPT = 75;
const RETRY_AFTER = 30;
const POLL_EVERY = 1000; // milliseconds, which is what a hint that was lost costs

/** One of the few that a developer has, from before a stream is answered to after its end. */
interface Slot {
  readonly id: string;
  readonly tenant: Tenant;
}

interface Stream {
  readonly slot: Slot;
  readonly keyHash: Buffer;
  readonly outlet: Outlet;
  // Both in epoch milliseconds.
  beatAt: number;
  checkAt: number;
}

export function createStreams(deps: StreamsDeps): Streams {
  const { db, store, clock, meter, isKeyGood, onTrouble } = deps;
  const tail = tailOf(db, onTrouble);
  const slots = new Set<Slot>();
  const streams = new Set<Stream>();
  let timer: NodeJS.Timeout | undefined; // only while there are streams
  let isClosed = false;

  const leaseOf = ({ tenant, id }: Slot) => ({
    key: `bh:{developer:${tenant.developerId}}:streams`,
    owner: id,
    most: MOST_OF_A_DEVELOPER,
    seconds: SLOT_KEPT,
  });
  /** While the store is away, each process counts its own. */
  const keepSlot = (slot: Slot) =>
    store.takeSlot(leaseOf(slot)).catch((error: unknown) => {
      onTrouble(error);
      return true;
    });
  const takeSlot = async (slot: Slot) => {
    slots.add(slot);
    const own = [...slots].filter(({ tenant }) => tenant.developerId === slot.tenant.developerId);
    if (own.length > MOST_OF_A_DEVELOPER || !(await keepSlot(slot))) throw tooMany();
  };
  const leave = (slot: Slot) => {
    slots.delete(slot);
    store.freeSlot(leaseOf(slot)).catch(() => {}); // it runs out
  };

  const beat = async (stream: Stream) => {
    stream.outlet.keepalive();
    if (!(await keepSlot(stream.slot))) stream.outlet.end('tooMany');
  };
  const checkKey = async (stream: Stream) => {
    if (!(await isKeyGood(stream.keyHash))) stream.outlet.end('keyEnded');
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
    stream.outlet.onceClosed(() => {
      streams.delete(stream);
      meter.streamClosed();
      leave(stream.slot);
      if (streams.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
  };

  return {
    tail,
    filterIn: (text) => filterIn(deps.catalogue, text),
    async open({ tenant }, { types, lastEventId, keyHash }, connect) {
      const wanted: { patterns: readonly string[] } = { patterns: patternsIn(deps.catalogue, types) };
      const slot: Slot = { id: randomUUID(), tenant };
      try {
        await takeSlot(slot);
        const beginning = await beginningOf({ db, clock }, tenant, lastEventId);
        const outlet = connect((patterns) => {
          wanted.patterns = patterns;
        });
        const now = clock().getTime();
        const beatAt = now + KEEPALIVE_EVERY * 1000;
        const checkAt = now + KEY_CHECKED_EVERY * 1000;
        add({ slot, keyHash, outlet, beatAt, checkAt });
        replay({ ...deps, tail }, { tenant, outlet, wanted }, beginning);
        if (isClosed) outlet.end('stopping');
      } catch (error) {
        leave(slot);
        throw error;
      }
    },
    async close() {
      isClosed = true;
      const ended = [...streams].map(
        ({ outlet }) => new Promise<void>((resolve) => outlet.onceClosed(resolve)),
      );
      for (const { outlet } of streams) outlet.end('stopping');
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
