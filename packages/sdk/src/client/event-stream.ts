import { BehestNetworkError } from '../errors.ts';
import { askService, type ServiceOptions } from './service.ts';

/** The fields of one frame. A comment has none of these. */
interface Frame {
  readonly event?: string;
  readonly data?: string;
}

const MAX_WAITING = 1_048_576; // characters; the service sends one event in a frame

/**
 * Divides a stream of server-sent events into frames, as far as the service uses the format.
 *
 * @see the HTML standard, section 9.2.6
 */
export async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const frames = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n\n');
    rest = frames.pop() ?? '';
    if (rest.length > MAX_WAITING) throw new Error('A frame of the stream is too long.');
    for (const frame of frames) yield frameIn(frame);
  }
}

function frameIn(text: string): Frame {
  const fields = text.split('\n').map((line) => /^([^:]*): ?(.*)$/.exec(line) ?? []);
  const fieldOf = (wanted: string) => fields.find(([, name]) => name === wanted)?.[2];
  const [event, data] = [fieldOf('event'), fieldOf('data')];
  return { ...(event !== undefined && { event }), ...(data !== undefined && { data }) };
}

/** An event, as far as a follower reads it. */
export interface FollowedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventListener {
  /** Names of types, separated by commas. */
  readonly types: string;
  /** Further members of the query of the stream. */
  readonly query?: string;
  /** Hears each event at least once, in no promised order. */
  onEvent(event: FollowedEvent): void;
  /** Events may have been missed for good. */
  onGap(): void;
  /** From now on, every event arrives in its order. */
  onWhole?(): void;
}

export interface EventFollower {
  /** True while every event that was committed some seconds ago has arrived. */
  isCurrent(): boolean;
  close(): void;
}

/** The clock of the machine, and one that is never set. Both in milliseconds. */
export interface Instant {
  readonly wall: number;
  readonly steady: number;
}

// All in milliseconds.
/** The service sends a comment every 30 seconds. */
const MAX_SILENCE = 45_000;
const LOOKED_EVERY = 5_000;
const [SHORTEST_PAUSE, LONGEST_PAUSE] = [1_000, 30_000];
/** A longer break costs more to read again than to ask again. The service keeps events for 72 hours. */
const LONGEST_BREAK = 3_600_000;
/** Longer than a transaction may take, so that no event is older than the break in which it was committed. */
const MARGIN = 300_000;
const MAX_SKEW = 60_000;
const MAX_PAGES = 20;

const systemTime = (): Instant => ({ wall: Date.now(), steady: performance.now() });

/**
 * Follows events of the service until it is closed. After a break it opens a new stream first and then reads the list of
 * events since the break, because a resumed stream does not say where the missed events end.
 */
export function followEvents(
  service: ServiceOptions,
  listener: EventListener,
  now: () => Instant = systemTime,
): EventFollower {
  const closing = new AbortController();
  let isWhole = false;
  let heardAt = now();
  /** The last sign of life while no event was missing. */
  let wholeAt: Instant | undefined;
  // A machine that slept may have stopped either clock.
  const since = (then: Instant) => Math.max(now().wall - then.wall, now().steady - then.steady);

  const hear = () => {
    heardAt = now();
    if (isWhole) wholeAt = heardAt;
  };

  async function read(body: AsyncIterable<Uint8Array>): Promise<never> {
    for await (const { event, data } of framesOf(body)) {
      if (event === 'gap') listener.onGap();
      else if (data !== undefined) listener.onEvent(eventIn(data));
      hear(); // after the event, which the follower would otherwise seem to have
    }
    throw new Error('The stream has ended.');
  }

  async function connect(): Promise<void> {
    const silence = new AbortController();
    heardAt = now();
    const watch = setInterval(() => {
      if (since(heardAt) > MAX_SILENCE) silence.abort();
    }, LOOKED_EVERY);
    try {
      const { body, date } = await open(service, listener, [closing.signal, silence.signal]);
      hear();
      const reading = read(body); // never ends well, so the race is lost or the stream is whole
      await Promise.race([reading, catchUp(date)]);
      isWhole = true;
      hear();
      listener.onWhole?.();
      await reading;
    } finally {
      isWhole = false;
      clearInterval(watch);
      silence.abort();
    }
  }

  async function catchUp(date: number): Promise<void> {
    const broken = wholeAt === undefined ? Number.POSITIVE_INFINITY : since(wholeAt);
    const isListed = broken <= LONGEST_BREAK && Math.abs(date - now().wall) <= MAX_SKEW;
    if (isListed && (await listSince(service, listener, new Date(now().wall - broken - MARGIN)))) return;
    listener.onGap();
  }

  async function run(): Promise<void> {
    let pause = SHORTEST_PAUSE;
    while (!closing.signal.aborted) {
      const before = wholeAt;
      const least = await connect().catch((error) => (error instanceof Refused ? error.retryAfter : 0));
      pause = wholeAt === before ? Math.min(2 * pause, LONGEST_PAUSE) : SHORTEST_PAUSE;
      // At random, so that the clients of a service that starts again do not come all at once.
      await sleep(Math.max(pause * (0.5 + Math.random() / 2), least ?? 0), closing.signal);
    }
  }
  void run();
  return { isCurrent: () => isWhole && since(heardAt) < MAX_SILENCE, close: () => closing.abort() };
}

class Refused extends Error {
  /** In milliseconds. */
  readonly retryAfter: number;

  constructor(retryAfter: number) {
    super('The service opened no stream.');
    this.retryAfter = retryAfter;
  }
}

/** Opens a stream, which has every event that is committed from then on. `date` is the clock of the service. */
async function open(
  { baseUrl, apiKey, fetch }: ServiceOptions,
  { types, query = '' }: EventListener,
  signals: AbortSignal[],
) {
  const answer = await fetch(`${baseUrl}/v1/events/stream?types=${types}${query}`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${apiKey()}` },
    redirect: 'manual', // a key follows no redirect
    signal: AbortSignal.any(signals),
  });
  if (answer.status === 200 && answer.body)
    return { body: answer.body, date: Date.parse(answer.headers.get('date') ?? '') };
  await answer.body?.cancel();
  throw new Refused(Math.min(Number(answer.headers.get('retry-after')) || 0, 300) * 1_000);
}

/** Hands over the events since a time. @returns false when it could not hand over all of them */
async function listSince(
  service: ServiceOptions,
  { types, onEvent }: EventListener,
  from: Date,
): Promise<boolean> {
  const query = `types=${types}&limit=500&since=${from.toISOString()}`;
  let path: string | undefined = `/v1/events?${query}`;
  try {
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { events, nextCursor } = await askService(service, path);
      if (!Array.isArray(events)) return false;
      for (const event of events) onEvent(event);
      if (nextCursor === null) return true;
      path = `/v1/events?${query}&cursor=${nextCursor}`;
    }
    return false;
  } catch (error) {
    if (error instanceof BehestNetworkError) return false;
    throw error;
  }
}

function eventIn(data: string): FollowedEvent {
  const event: unknown = JSON.parse(data);
  return Object(event);
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });
}
