import type { Tenant } from '../../platform/caller.ts';
import type { Meter } from '../../platform/telemetry/meter.ts';
import { matchesEvent, typesOf } from './events.catalogue.rules.ts';
import { eventFrame, gapFrame, KEEPALIVE } from './events.frames.rules.ts';
import type { Outlet } from './events.outlet.service.ts';
import { findBeginnings, listStretch } from './events.repo.ts';
import { retainedSince } from './events.rules.ts';
import type { EventsDeps } from './events.service.ts';
import type { Follower, Tail } from './events.tail.service.ts';

interface ReplayDeps extends EventsDeps {
  readonly tail: Tail;
  readonly meter: Meter;
  readonly onTrouble: (error: unknown) => void;
}

interface Asked {
  readonly patterns: readonly string[];
  readonly lastEventId: string | undefined;
}

interface Listener {
  readonly tenant: Tenant;
  readonly outlet: Outlet;
}

const MOST_REPLAYED = 1000; // specification, Events
/** What is read at a time, and waits here for as long as the consumer does not take it. */
const AT_ONCE = 100;

/**
 * Begins a stream: what it has missed, as fast as it is taken, and then what comes. Resolves when it is known where
 * it begins, so that whatever is committed after the answer is in it.
 */
export async function replay(deps: ReplayDeps, listener: Listener, asked: Asked): Promise<void> {
  const { db, clock, tail, meter, onTrouble } = deps;
  const { tenant, outlet } = listener;
  const { patterns, lastEventId = '' } = asked;
  const since = retainedSince(clock());
  const { end, retained, after } = await findBeginnings(db, tenant, lastEventId || null, since);

  const send = (frame: Buffer) => {
    outlet.write(frame);
    meter.eventSent();
  };
  const goLive = (seq: string) => {
    const tell: Follower['tell'] = (type, frame) => {
      if (matchesEvent(patterns, type)) send(frame);
    };
    const follower: Follower = { tenant, seq: BigInt(seq), tell };
    if (outlet.isClosed()) return;
    outlet.body.once('close', () => tail.leave(follower));
    tail.follow(follower);
  };
  const catchUp = async (from: string) => {
    let left = MOST_REPLAYED;
    let seq = from;
    while (!outlet.isClosed()) {
      const limit = Math.min(AT_ONCE, left);
      const stretch = { types: typesOf(patterns), after: seq, since, until: null, limit };
      const { rows, lookedTo, end: now } = await listStretch(db, tenant, stretch);
      const page = rows.slice(0, limit);
      for (const { id, type, envelope } of page) {
        send(eventFrame(id, type, envelope));
        await outlet.taken();
      }
      left -= page.length;
      const hasMore = rows.length > page.length;
      seq = hasMore ? (page.at(-1)?.seq ?? seq) : lookedTo;
      if (hasMore && left === 0) {
        outlet.write(gapFrame(seq));
        return goLive(now);
      }
      if (!hasMore && lookedTo === now) return goLive(now);
    }
  };

  outlet.write(KEEPALIVE);
  if (!lastEventId) return goLive(end);
  const isRetained = after !== null && BigInt(after) >= BigInt(retained);
  if (!isRetained) outlet.write(gapFrame(retained));
  catchUp(isRetained ? after : retained).catch((error: unknown) => {
    onTrouble(error);
    outlet.body.destroy(); // the consumer comes again, with the last that it has seen
  });
}
