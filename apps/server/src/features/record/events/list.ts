import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { mustBeSpan, pageOf } from '../../../platform/paging.ts';
import type { Catalogue } from './catalogue.rules.ts';
import { listEventRange } from './events.repo.ts';
import { patternsIn, retainedSince } from './events.rules.ts';
import type { EventQuery } from './events.schema.ts';

export interface EventsDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
}

/**
 * Lists the retained events, oldest first. A page may be short or empty and still have a next page, because a
 * request looks at a fixed number of events, however few of them have the requested types.
 * @returns the JSON text of the answer, which holds each envelope exactly as it was written
 */
export async function listEvents(deps: EventsDeps, caller: Caller, query: EventQuery): Promise<string> {
  const { types, since, until, limit, cursor = '0' } = query;
  mustBeSpan(query);
  const retained = retainedSince(deps.clock());
  const asked = since ? new Date(since) : retained;
  const { searchedTo, end, ...rows } = await listEventRange(deps.db, caller, {
    types: deps.catalogue.typesOf(patternsIn(deps.catalogue, types)),
    after: cursor,
    since: asked > retained ? asked : retained,
    until: until ? new Date(until) : null,
    limit,
  });
  const { page, nextCursor } = pageOf(
    rows,
    ({ seq }) => seq,
    ({ envelope }) => envelope,
  );
  const goesOn = BigInt(searchedTo) < BigInt(end) ? searchedTo : null;
  return `{"events":[${page.join(',')}],"nextCursor":${JSON.stringify(nextCursor ?? goesOn)}}`;
}
