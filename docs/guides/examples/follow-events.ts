import { setTimeout as delay } from 'node:timers/promises';

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Following {
  readonly url: string;
  readonly apiKey: string;
  /** Names of types and areas, such as `grant.revoked,token.*`, or `*`. */
  readonly types: string;
  /** The last event of an earlier run. */
  readonly lastEventId?: string | undefined;
  readonly signal: AbortSignal;
}

// Times are in milliseconds.
const SHORTEST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;
const LONGEST_SILENCE = 75_000; // the service sends a comment every 30 seconds

/**
 * Yields every event as it happens, until the signal is aborted. After a broken connection it continues behind the
 * last event.
 * @throws when another try would change nothing: an invalid key, an unknown type
 */
export async function* follow(following: Following): AsyncGenerator<Event> {
  const { signal } = following;
  let { lastEventId } = following;
  let pause = SHORTEST_PAUSE;
  while (!signal.aborted) {
    try {
      for await (const event of connect({ ...following, lastEventId })) {
        yield event;
        lastEventId = event.id;
        pause = SHORTEST_PAUSE;
      }
    } catch (error) {
      if (error instanceof Refused) throw error; // any other error is a broken connection
    }
    await delay(pause, undefined, { signal }).catch(() => {});
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }
}

/** Yields the events of one connection. */
async function* connect(following: Following): AsyncGenerator<Event> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), LONGEST_SILENCE);
  const signal = AbortSignal.any([following.signal, silence.signal]);
  const fromList = new Set<string>(); // the stream repeats the newest of these events
  try {
    for await (const { event, data } of framesOf(await ask({ ...following, signal }, '/v1/events/stream'))) {
      timer.refresh();
      if (data === undefined) continue; // a comment
      const told = JSON.parse(data);
      if (event === 'gap') {
        for await (const missed of listAfter(following, told.data.cursor)) {
          fromList.add(missed.id);
          yield missed;
        }
      } else if (!fromList.has(told.id)) yield told;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Yields the events of a gap. */
async function* listAfter(following: Following, from: string): AsyncGenerator<Event> {
  for (let cursor: string | null = from; cursor !== null; ) {
    const answer = await ask(following, '/v1/events', { cursor, limit: '500' });
    const page: { events: Event[]; nextCursor: string | null } = JSON.parse(await answer.text());
    yield* page.events;
    cursor = page.nextCursor;
  }
}

class Refused extends Error {}

async function ask({ url, apiKey, types, lastEventId, signal }: Following, path: string, query = {}) {
  const answer = await fetch(`${url}${path}?${new URLSearchParams({ types, ...query })}`, {
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
    signal,
  });
  if (answer.ok) return answer;
  const problem = `${answer.status} ${await answer.text()}`;
  // Another try may succeed after too many requests or streams, and when the service was away.
  throw answer.status === 429 || answer.status >= 500 ? new Error(problem) : new Refused(problem);
}

/** Parses the part of the HTML standard, section 9.2.6, that the service uses. */
async function* framesOf(
  answer: Response,
): AsyncGenerator<{ readonly event?: string; readonly data?: string }> {
  let rest = '';
  for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const frames = `${rest}${text}`.split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) yield Object.fromEntries(frame.split('\n').map(fieldIn));
  }
}

function fieldIn(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
}
