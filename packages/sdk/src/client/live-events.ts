import type { KeyHolder } from '../api/caller.ts';
import { queryOf } from '../api/rows.ts';
import type { EventsListItem } from '../api/types.gen.ts';
import { BehestError, BehestNetworkError } from '../errors.ts';
import type { Fetch } from '../verify/fetch-keys.ts';
import { apiError, BehestApiError } from './api-errors.ts';
import { framesOf } from './event-stream.ts';
import { answeredOf, refusalOf } from './refusals.ts';
import { wait } from './retries.ts';

/** An event of the account. */
export type BehestEvent = EventsListItem;

/** Events may have been missed. `GET /v1/events` lists those after the cursor; null means that nobody knows the place. */
export interface Gap {
  readonly type: 'gap';
  readonly data: { readonly cursor: string | null };
}

export interface StreamOptions {
  /** Names of types, or areas such as `grant.*`. Default: all. */
  readonly types?: readonly string[] | string | undefined;
  /** The last event that was dealt with, after which the stream goes on. */
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SubscribeOptions extends Omit<StreamOptions, 'signal'> {
  /** Hears errors of the handler, and the error that ends the subscription. Without it, an error ends `done`. */
  readonly onError?: (error: unknown) => void;
}

export interface Subscription {
  unsubscribe(): void;
  /** Settles when the subscription has ended. */
  readonly done: Promise<void>;
}

export interface Connection {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly key: KeyHolder;
}

// Milliseconds. The service sends a comment every 30 seconds.
const [MAX_SILENCE, LOOKED_EVERY] = [45_000, 5_000];
const [SHORTEST_PAUSE, LONGEST_PAUSE] = [1_000, 30_000];

/**
 * Follows the events of the account, and goes on after a break where it was.
 *
 * @throws BehestApiError when the service refuses the stream for good, as for an unknown type or a revoked key
 */
export async function* streamEvents(
  connection: Connection,
  { types = '*', lastEventId, signal }: StreamOptions = {},
  pauseFor: typeof wait = wait,
): AsyncGenerator<BehestEvent | Gap> {
  const query = queryOf({ types: Array.isArray(types) ? types.join(',') : types });
  let last = lastEventId;
  let wasOpen = false;
  let pause = SHORTEST_PAUSE;
  while (!signal?.aborted) {
    const ending = new AbortController();
    const signals = [ending.signal, ...(signal ? [signal] : [])];
    let least = 0;
    try {
      const body = await open(connection, query, last, AbortSignal.any(signals));
      if (wasOpen && last === undefined) yield { type: 'gap', data: { cursor: null } };
      wasOpen = true;
      for await (const event of eventsIn(body, ending)) {
        pause = SHORTEST_PAUSE;
        yield event;
        if ('id' in event) last = event.id; // asked for again unless the program came back for the next
      }
    } catch (error) {
      if (error instanceof BehestError && !(error instanceof BehestNetworkError)) {
        if (!(error instanceof BehestApiError && error.retryable)) throw error;
        least = (error.rateLimit?.retryAfter ?? 0) * 1_000;
      }
    } finally {
      ending.abort();
    }
    // At random, so that the clients of a service that starts again do not come all at once.
    const ms = Math.max(pause * (0.5 + Math.random() / 2), least);
    await pauseFor(ms, signal).catch(() => undefined); // an aborted wait ends the loop
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }
}

/** Hands each event to a function, one after the other. */
export function subscribeTo(
  connection: Connection,
  handler: (event: BehestEvent | Gap) => unknown,
  { onError, ...options }: SubscribeOptions = {},
): Subscription {
  const ending = new AbortController();
  const told = (error: unknown) => {
    if (!onError) throw error;
    onError(error);
  };
  async function run(): Promise<void> {
    for await (const event of streamEvents(connection, { ...options, signal: ending.signal })) {
      try {
        await handler(event);
      } catch (error) {
        told(error);
      }
      if (ending.signal.aborted) return;
    }
  }
  return { unsubscribe: () => ending.abort(), done: onError ? run().catch(told) : run() };
}

async function open(
  { baseUrl, fetch, key }: Connection,
  query: string,
  last: string | undefined,
  signal: AbortSignal,
) {
  if (key.apiKey === undefined) throw new BehestError('CONFIGURATION', 'The event stream needs an API key.');
  const answer = await fetch(`${baseUrl}/v1/events/stream${query}`, {
    headers: {
      ...{ accept: 'text/event-stream', authorization: `Bearer ${key.apiKey}` },
      ...(last !== undefined && { 'last-event-id': last }),
    },
    redirect: 'manual', // a key follows no redirect
    signal,
  });
  if (answer.status === 200 && answer.body) return answer.body;
  throw apiError(refusalOf(answeredOf(answer), await answer.text()));
}

/** Reads events until the stream ends, or until the service has been silent for too long. */
async function* eventsIn(body: AsyncIterable<Uint8Array>, ending: AbortController) {
  let heardAt = performance.now();
  const watch = setInterval(() => {
    if (performance.now() - heardAt > MAX_SILENCE) ending.abort();
  }, LOOKED_EVERY);
  try {
    for await (const { data } of framesOf(body)) {
      heardAt = performance.now();
      if (data !== undefined) yield JSON.parse(data) as BehestEvent | Gap; // the service writes the envelope
    }
  } finally {
    clearInterval(watch);
  }
}
