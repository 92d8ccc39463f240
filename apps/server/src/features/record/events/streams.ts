import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Caller, Reach } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { definePart } from '../../../platform/parts.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { filterIn, patternsIn } from './events.rules.ts';
import type { EventsDeps } from './list.ts';
import { type Admit, admitting, type Outlet } from './outlet.ts';
import { beginningOf, replay } from './replay.ts';
import { type Tail, tailOf } from './tail.ts';

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
  /** Called when Postgres or the ephemeral store fails. Streams stay open, and the service asks again. */
  readonly onTrouble: (error: unknown) => void;
}

/** The streams that count together: those of a developer, or of a person. */
export interface Seats {
  readonly key: string;
  /** The owner, as a refusal names it: `An account`. */
  readonly owner: string;
  /** Over all instances. */
  readonly most: number;
}

/** The streams of a developer's API keys. */
export const seatsOf = ({ tenant }: Pick<Reach, 'tenant'>): Seats => ({
  key: `bh:{developer:${tenant.developerId}}:streams`,
  owner: 'An account',
  most: MAX_STREAMS,
});

/** The streams of verifiers, so that they keep no other program out, and no other program keeps them out. */
export const verifierSeatsOf = ({ tenant }: Pick<Reach, 'tenant'>): Seats => ({
  key: `bh:{developer:${tenant.developerId}}:streams:verifiers`,
  owner: 'The verifiers of an account',
  most: MAX_VERIFIER_STREAMS,
});

/**
 * The streams of a member, and those of all members of an account, so that an open console keeps no program out, no program a
 * console, and no member another.
 */
export const memberSeatsOf = ({ tenant, actor }: Pick<Caller, 'tenant' | 'actor'>): readonly Seats[] => {
  const key = `bh:{developer:${tenant.developerId}}:streams:console`;
  return [
    { key: `${key}:${actor}`, owner: 'A member', most: MAX_STREAMS_OF_MEMBER },
    { key, owner: 'The console of an account', most: MAX_MEMBER_STREAMS },
  ];
};

export interface StreamRequest {
  readonly types: string;
  readonly lastEventId: string | undefined;
  /** Where the stream takes a seat, each of which may be full. */
  readonly seats: readonly Seats[];
  /** Whether the credential that opened the stream is still valid. */
  readonly isGood: () => Promise<boolean>;
  /** Seconds between two questions whether it is. */
  readonly checkedEvery?: number;
  /** Looks at each event before it is sent. Without it, the consumer gets every event within its reach. */
  readonly admit?: Admit;
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
  open(reach: Reach, request: StreamRequest, connect: Connect): Promise<void>;
  /** Ends all streams, and from then on each stream as soon as it is opened. */
  close(): Promise<void>;
}

export const MAX_STREAMS = 5; // of an account's API keys, or of an approver
const MAX_VERIFIER_STREAMS = 50;
const MAX_MEMBER_STREAMS = 20;
const MAX_STREAMS_OF_MEMBER = 4; // a console opens one for each browser
// In seconds.
const KEEPALIVE_EVERY = 30;
const CHECKED_EVERY = 60;
/** Long enough to outlive one failed renewal, and short enough after a crash. */
const SLOT_KEPT = 75;
const RETRY_AFTER = 30;
const POLL_EVERY = 1000; // milliseconds: the delay after a lost hint

/** A stream holds its slot from before the answer until after its end. */
interface Slot {
  readonly id: string;
  readonly seats: readonly Seats[];
}

interface Stream extends Required<Pick<StreamRequest, 'isGood' | 'checkedEvery'>> {
  readonly slot: Slot;
  readonly outlet: Outlet;
  // Both in epoch milliseconds.
  beatAt: number;
  checkAt: number;
}

function createStreams(deps: StreamsDeps): Streams {
  const { db, store, clock, meter, onTrouble } = deps;
  const tail = tailOf(db, onTrouble);
  const slots = new Set<Slot>();
  const streams = new Set<Stream>();
  let timer: NodeJS.Timeout | undefined; // only while there are streams
  let isClosed = false;

  const leaseOf = ({ key, most }: Seats, { id }: Slot) => ({ key, owner: id, most, seconds: SLOT_KEPT });
  /** While the store is away, each process counts its own streams. @returns the seats that are full */
  const keepSlot = async (slot: Slot): Promise<Seats | undefined> => {
    for (const seats of slot.seats) {
      const isKept = await store.takeSlot(leaseOf(seats, slot)).catch((error: unknown) => {
        onTrouble(error);
        return true;
      });
      if (!isKept) return seats;
    }
    return undefined;
  };
  const takeSlot = async (slot: Slot) => {
    slots.add(slot);
    const countIn = ({ key }: Seats) =>
      [...slots].filter(({ seats }) => seats.some((each) => each.key === key)).length;
    const full = slot.seats.find((seats) => countIn(seats) > seats.most) ?? (await keepSlot(slot));
    if (full) throw tooMany(full);
  };
  const leave = (slot: Slot) => {
    slots.delete(slot);
    for (const seats of slot.seats) store.freeSlot(leaseOf(seats, slot)).catch(() => {}); // each expires by itself
  };

  const beat = async (stream: Stream) => {
    stream.outlet.keepalive();
    if (await keepSlot(stream.slot)) stream.outlet.end('tooMany');
  };
  const check = async (stream: Stream) => {
    if (!(await stream.isGood())) stream.outlet.end('credentialEnded');
  };

  // Bound outside requests: the timer would otherwise keep the context of the request that opened the first
  // stream.
  const look = AsyncLocalStorage.bind(() => {
    tail.wakeAll();
    const now = clock().getTime();
    for (const stream of streams) {
      if (now >= stream.checkAt) {
        stream.checkAt = now + stream.checkedEvery * 1000;
        check(stream).catch((error: unknown) => {
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
    async open({ tenant, agentIds }, { types, lastEventId, seats, isGood, admit, ...request }, connect) {
      const { checkedEvery = CHECKED_EVERY } = request;
      const wanted: { patterns: readonly string[] } = { patterns: patternsIn(deps.catalogue, types) };
      const reach = { tenant, agentIds };
      const slot: Slot = { id: randomUUID(), seats };
      try {
        await takeSlot(slot);
        const beginning = await beginningOf({ db, clock }, reach, lastEventId);
        const connected = connect((patterns) => {
          wanted.patterns = patterns;
        });
        const counted: Outlet = {
          ...connected,
          event(event) {
            connected.event(event);
            meter.eventSent();
          },
        };
        const outlet = admit ? admitting(counted, admit, onTrouble) : counted;
        const now = clock().getTime();
        const beatAt = now + KEEPALIVE_EVERY * 1000;
        const checkAt = now + checkedEvery * 1000;
        add({ slot, isGood, checkedEvery, outlet, beatAt, checkAt });
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

function tooMany({ owner, most }: Seats): AppError {
  const message = `${owner} may have ${most} streams. Close a stream or retry in ${RETRY_AFTER} seconds.`;
  return new AppError('TOO_MANY_CONNECTIONS', message, {
    limit: most,
    retryAfter: RETRY_AFTER,
  });
}

/** The parts of the process that streams need. */
interface StreamsContext extends EventsDeps {
  readonly store: EphemeralStore;
  readonly metrics: Pick<Metrics, 'gauge' | 'counter'>;
  readonly logger?: Logger;
}

/** The live streams of a process. Every feature that sends events to somebody opens its streams here. */
export const eventStreams = definePart<Streams>('the streams of events');

export function openStreams(context: StreamsContext): Streams {
  const open = context.metrics.gauge('event_streams_open');
  const sent = context.metrics.counter('events_sent_total');
  return createStreams({
    ...context,
    meter: {
      streamOpened: () => open.inc(),
      streamClosed: () => open.dec(),
      eventSent: () => sent.inc(),
    },
    onTrouble: (err: unknown) =>
      context.logger?.warn({ err }, 'live streams wait, because Postgres or Redis does not answer'),
  });
}
