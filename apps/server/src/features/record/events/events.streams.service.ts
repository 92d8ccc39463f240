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
  /** Counts an event once for each stream. */
  eventSent(): void;
}

export interface StreamsDeps extends EventsDeps {
  readonly store: EphemeralStore;
  readonly meter: StreamMeter;
  /** Whether an API key is still valid. API keys are a tier above, so the check is passed in. */
  readonly isKeyGood: (keyHash: Buffer) => Promise<boolean>;
  /** Called when Postgres or the ephemeral store fails. Streams stay open, and the service asks again. */
  readonly onTrouble: (error: unknown) => void;
}

export interface StreamRequest {
  readonly types: string;
  readonly lastEventId: string | undefined;
  readonly keyHash: Buffer;
}

/** Begins the answer. Through `choose` the consumer changes its patterns. */
type Connect = (choose: (patterns: readonly string[]) => void) => Outlet;

/** The live streams of this process, whatever their protocol. */
export interface Streams {
  readonly tail: Tail;
  /** The patterns that a message of the consumer asks for; undefined for any other message. */
  filterIn(text: Buffer): string[] | undefined;
  /**
   * Calls `connect` once the stream's beginning is known, so the stream has every event committed after the
   * answer.
   * @throws BAD_REQUEST, TOO_MANY_CONNECTIONS
   */
  open(caller: Caller, request: StreamRequest, connect: Connect): Promise<void>;
  /** Ends all streams, and from then on each stream as soon as it is opened. */
  close(): Promise<void>;
}

const MOST_OF_A_DEVELOPER = 5; // specification, Events
// In seconds.
const KEEPALIVE_EVERY = 30;
const KEY_CHECKED_EVERY = 60;
/** Long enough to outlive one failed renewal, and short enough after a crash. */
const SLOT_KEPT = 75;
const RETRY_AFTER = 30;
const POLL_EVERY = 1000; // milliseconds: the delay after a lost hint

/** A stream holds its slot from before the answer until after its end. */
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
  /** While the store is away, each process counts its own streams. */
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
    store.freeSlot(leaseOf(slot)).catch(() => {}); // the slot expires by itself
  };

  const beat = async (stream: Stream) => {
    stream.outlet.keepalive();
    if (!(await keepSlot(stream.slot))) stream.outlet.end('tooMany');
  };
  const checkKey = async (stream: Stream) => {
    if (!(await isKeyGood(stream.keyHash))) stream.outlet.end('keyEnded');
  };

  // Bound outside requests: the timer would otherwise keep the context of the request that opened the first
  // stream.
  const look = AsyncLocalStorage.bind(() => {
    tail.wakeAll();
    const now = clock().getTime();
    for (const stream of streams) {
      if (now >= stream.checkAt) {
        stream.checkAt = now + KEY_CHECKED_EVERY * 1000;
        checkKey(stream).catch((error: unknown) => {
          stream.checkAt = now; // the check failed, so it repeats soon
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
    async open({ tenant, agentIds }, { types, lastEventId, keyHash }, connect) {
      const wanted: { patterns: readonly string[] } = { patterns: patternsIn(deps.catalogue, types) };
      const reach = { tenant, agentIds };
      const slot: Slot = { id: randomUUID(), tenant };
      try {
        await takeSlot(slot);
        const beginning = await beginningOf({ db, clock }, reach, lastEventId);
        const outlet = connect((patterns) => {
          wanted.patterns = patterns;
        });
        const now = clock().getTime();
        const beatAt = now + KEEPALIVE_EVERY * 1000;
        const checkAt = now + KEY_CHECKED_EVERY * 1000;
        add({ slot, keyHash, outlet, beatAt, checkAt });
        replay({ ...deps, tail }, { reach, outlet, wanted }, beginning);
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
  const message = `An account may have ${MOST_OF_A_DEVELOPER} streams. Close a stream or retry in ${RETRY_AFTER} seconds.`;
  return new AppError('TOO_MANY_CONNECTIONS', message, {
    limit: MOST_OF_A_DEVELOPER,
    retryAfter: RETRY_AFTER,
  });
}
