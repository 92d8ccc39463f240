import type { Tenant } from '../../../platform/caller.ts';
import { pageOf } from '../../../platform/paging.ts';
import type { Outlet, StreamedEvent } from './events.outlet.service.ts';
import { findBeginnings, listEventRange } from './events.repo.ts';
import { retainedSince } from './events.rules.ts';
import type { EventsDeps } from './events.service.ts';
import type { Follower, Tail } from './events.tail.service.ts';

interface ReplayDeps extends EventsDeps {
  readonly tail: Tail;
  readonly meter: { eventSent(): void };
  readonly onTrouble: (error: unknown) => void;
}

interface Listener {
  readonly tenant: Tenant;
  readonly outlet: Outlet;
  /** The types that it wants, which it may change. */
  readonly wanted: { readonly patterns: readonly string[] };
}

/** Where a stream begins, by the numbers of events. */
export interface Beginning {
  readonly since: Date;
  /** From where on it is told of what comes, when it has missed nothing. */
  readonly end: string;
  /** What has been missed, when it resumes. */
  readonly missed: { readonly after: string; readonly isGap: boolean } | undefined;
}

const MOST_REPLAYED = 1000; // specification, Events
/** What is read at a time, and waits here for as long as the consumer does not take it. */
const AT_ONCE = 100;

/** Whatever is committed after this is in a stream that begins here. */
export async function beginningOf(
  { db, clock }: Pick<EventsDeps, 'db' | 'clock'>,
  tenant: Tenant,
  lastEventId: string | undefined,
): Promise<Beginning> {
  const since = retainedSince(clock());
  const { end, retained, after } = await findBeginnings(db, tenant, lastEventId || null, since);
  if (!lastEventId) return { since, end, missed: undefined };
  const isRetained = after !== null && BigInt(after) >= BigInt(retained);
  return { since, end, missed: { after: isRetained ? after : retained, isGap: !isRetained } };
}

/** Tells what was missed, as fast as it is taken, and then what comes. */
export function replay(deps: ReplayDeps, listener: Listener, { since, end, missed }: Beginning): void {
  const { db, tail, meter, onTrouble } = deps;
  const { tenant, outlet, wanted } = listener;

  const send = (event: StreamedEvent) => {
    outlet.event(event);
    meter.eventSent();
  };
  const goLive = (seq: string) => {
    const onEvent: Follower['onEvent'] = (event) => {
      if (deps.catalogue.matches(wanted.patterns, event.type)) send(event);
    };
    const follower: Follower = { tenant, seq: BigInt(seq), onEvent };
    if (outlet.isClosed()) return;
    outlet.onceClosed(() => tail.leave(follower));
    tail.follow(follower);
  };
  const catchUp = async (from: string) => {
    let left = MOST_REPLAYED;
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
      const { rows, searchedTo, end: now } = await listEventRange(db, tenant, range);
      const { page, nextCursor } = pageOf(rows, limit, ({ seq }) => seq);
      for (const event of page) {
        if (deps.catalogue.matches(wanted.patterns, event.type)) send(event);
        await outlet.taken();
      }
      left -= page.length;
      seq = nextCursor ?? searchedTo;
      if (nextCursor !== null && left === 0) {
        outlet.gap(seq);
        return goLive(now);
      }
      if (nextCursor === null && searchedTo === now) return goLive(now);
    }
  };

  const resume = ({ after, isGap }: NonNullable<Beginning['missed']>) => {
    if (isGap) outlet.gap(after);
    catchUp(after).catch((error: unknown) => {
      onTrouble(error);
      outlet.cutOff(); // the consumer comes again, with the last that it has seen
    });
  };

  outlet.keepalive();
  if (missed) resume(missed);
  else goLive(end);
}
