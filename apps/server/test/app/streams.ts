import { once } from 'node:events';
import http from 'node:http';
import { sql } from 'kysely';
import { onTestFinished, vi } from 'vitest';
import { newId } from '../../src/platform/ids.ts';
import type { Call, Developer, Service } from './start-app.ts';

interface Asked {
  /** The address of the service. */
  readonly url: string;
  readonly apiKey?: string;
  /** The path of the stream, where it is not that of a developer's events. */
  readonly at?: string;
  /** Those of a browser. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For example `types=grant.*`. */
  readonly query?: string;
  readonly lastEventId?: string;
}

/** One frame of a stream, by the format of the HTML standard, section 9.2.6. */
export interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  /** Only people read comments. */
  readonly comment?: string;
}

/** Opens a stream and reads it until the test is over. */
export async function follow({ lastEventId, ...asked }: Asked) {
  const response = await open({ ...asked, ...(lastEventId && { lastEventId }) });
  const frames: Frame[] = [];
  let rest = '';
  response.setEncoding('utf8').on('data', (text: string) => {
    const parts = `${rest}${text}`.split('\n\n');
    rest = parts.pop() ?? '';
    frames.push(...parts.map(frameIn));
  });
  const ended = new Promise<'ended' | 'cut off'>((resolve) => {
    response.on('end', () => resolve('ended')).on('error', () => resolve('cut off'));
  });
  const isEnvelope = ({ event }: Frame) => event !== undefined && event !== 'gap';
  const events = () => frames.filter(isEnvelope).map(({ data = '' }): Event => JSON.parse(data));
  const comments = () => frames.flatMap(({ comment }) => comment ?? []);
  const { statusCode: status, headers } = response;
  return {
    status,
    headers,
    frames,
    events,
    comments,
    ended,
    close: () => response.destroy(),
    /** Resolves when `isEnough`, and asks again for as long as a test may take. */
    until: (isEnough: () => boolean) => vi.waitUntil(isEnough, { timeout: 15_000, interval: 10 }),
    /** Waits for `count` events. @returns their ids */
    async first(count: number) {
      await vi.waitUntil(() => frames.filter(isEnvelope).length >= count, { timeout: 15_000, interval: 10 });
      return events().map(({ id }) => id);
    },
  };
}

/** Opens a stream of lines, and reads it until the test is over. */
export async function linesOf(asked: Asked) {
  const response = await open(asked);
  let text = '';
  response.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const lines = () => text.split('\n').slice(0, -1).filter(Boolean);
  return {
    type: response.headers['content-type'],
    close: () => response.destroy(),
    /** Waits for `count` lines that are not empty. */
    async first(count: number) {
      await vi.waitUntil(() => lines().length >= count, { timeout: 15_000, interval: 10 });
      return lines();
    },
  };
}

/** Opens a stream that nobody reads. */
export async function open(asked: Asked): Promise<http.IncomingMessage> {
  const { url, apiKey, at = '/v1/events/stream', query = '', lastEventId } = asked;
  const headers = {
    ...asked.headers,
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  };
  const request = http.get(`${url}${at}?${query}`, { headers, agent: false });
  onTestFinished(() => void request.destroy());
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('There was no answer.');
  return response.on('error', () => {}); // the end of the test cuts it off
}

/** The streams that the service counts as open. */
export async function countOpen(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^event_streams_open (\d+)$/m.exec(text)?.[1]);
}

function frameIn(text: string): Frame {
  const fields = text.split('\n').map((line) => {
    const [, name = '', value] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
    return [name || 'comment', value];
  });
  return Object.fromEntries(fields);
}

/**
 * Emits many events at once, through the same function as the product. No hint goes out, so waiting readers
 * find them by themselves.
 */
export async function emit(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  { developerId }: Developer,
  types: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
) {
  const at = clock();
  const events = types.map((type, n) => {
    const id = newId('evt', at);
    const createdAt = at.toISOString();
    const told = {
      id,
      type,
      createdAt,
      timestamp: createdAt,
      developerId,
      specVersion: '0.6',
      data: { n, ...more },
    };
    return { eventId: id, type, envelope: JSON.stringify(told) };
  });
  await sql`select * from audit_append(${developerId}, ${at}, ${JSON.stringify(events)}::jsonb)`.execute(db);
  return events.map(({ eventId }) => eventId);
}

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly developerId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The whole list, page by page. @param query for example `types=grant.*&limit=2` */
export async function listedTo(developer: Call, query = ''): Promise<Event[]> {
  const events: Event[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const asked = new URLSearchParams(query);
    if (cursor) asked.set('cursor', cursor);
    const page: { events: Event[]; nextCursor: string | null } = (
      await developer('GET', `/v1/events?${asked}`)
    ).json();
    events.push(...page.events);
    cursor = page.nextCursor;
  }
  return events;
}
