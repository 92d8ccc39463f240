import type { Reach } from '../../../platform/caller.ts';
import { findBeginnings, listEventRange } from './events.repo.ts';
import { retainedSince } from './events.rules.ts';
import type { EventsDeps } from './list.ts';
import type { Outlet } from './outlet.ts';
import type { Follower, Tail } from './tail.ts';

interface ReplayDeps extends EventsDeps {
  readonly tail: Tail;
  readonly onTrouble: (error: unknown) => void;
}

interface Listener {
  readonly reach: Reach;
  readonly outlet: Outlet;
  /** The consumer may change its patterns while the stream lives. */
  readonly wanted: { readonly patterns: readonly string[] };
}

/** The event numbers at which a stream begins. */
export interface Beginning {
  readonly since: Date;
  /** The number after which events are live, for a consumer that has missed nothing. */
  readonly end: string;
  /** Where the missed events begin, when the consumer resumes. */
  readonly missed: { readonly after: string; readonly isGap: boolean } | undefined;
}

const MAX_REPLAYED = 1000; // events, after which a gap is reported
/** Events in one read. They wait in memory until the consumer takes them. */
const AT_ONCE = 100;

/** Finds where a stream begins. The stream has every event that is committed after this call. */
export async function beginningOf(
  { db, clock }: Pick<EventsDeps, 'db' | 'clock'>,
  reach: Reach,
  lastEventId: string | undefined,
): Promise<Beginning> {
  const since = retainedSince(clock());
  const { end, retained, after } = await findBeginnings(db, reach, lastEventId || null, since);
  if (!lastEventId) return { since, end, missed: undefined };
  const isRetained = after !== null && BigInt(after) >= BigInt(retained);
  return { since, end, missed: { after: isRetained ? after : retained, isGap: !isRetained } };
}

/** Sends the missed events as fast as the consumer takes them, and then the live events. */
export function replay(deps: ReplayDeps, listener: Listener, { since, end, missed }: Beginning): void {
  const { db, tail, onTrouble } = deps;
  const { reach, outlet, wanted } = listener;

  const goLive = (seq: string) => {
    const onEvent: Follower['onEvent'] = (event) => {
      if (deps.catalogue.matches(wanted.patterns, event.type)) outlet.event(event);
    };
    const follower: Follower = { ...reach, seq: BigInt(seq), onEvent };
    if (outlet.isClosed()) return;
    outlet.onceClosed(() => tail.leave(follower));
    tail.follow(follower);
  };
  const catchUp = async (from: string) => {
    let left = MAX_REPLAYED;
    let seq = from;
    while (!outlet.isClosed()) {
      const limit = Math.min(AT_ONCE, left);
      const range = {
        types: deps.catalogue.typesOf(wanted.patterns),
        after: seq,
        since,
        until: null,
        limit,
      };
      const { rows: page, hasMore, searchedTo, end: now } = await listEventRange(db, reach, range);
      const nextCursor = hasMore ? (page.at(-1)?.seq ?? null) : null;
      for (const event of page) {
        if (deps.catalogue.matches(wanted.patterns, event.type)) outlet.event(event);
        await outlet.taken();
      }
      left -= page.length;
      seq = nextCursor ?? searchedTo;
      if (nextCursor === null && searchedTo === now) return goLive(now);
      if (left === 0) {
        outlet.gap(seq);
        return goLive(now);
      }
    }
  };

  const resume = ({ after, isGap }: NonNullable<Beginning['missed']>) => {
    if (isGap) outlet.gap(after);
    catchUp(after).catch((error: unknown) => {
      onTrouble(error);
      outlet.cutOff(); // the consumer reconnects with the id of the last event that it has seen
    });
  };

  outlet.keepalive();
  if (missed) resume(missed);
  else goLive(end);
}
