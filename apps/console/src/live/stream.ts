import { api, type Schemas } from '../api/client.ts';

/** An event, as its envelope has it. */
export type LiveEvent = Schemas['EventPage']['events'][number];

/** What a line of the stream is. A gap says that events are missing here. */
export type Line = { readonly event: LiveEvent } | { readonly gap: true };

/** Milliseconds without a line, of which one comes every 30 seconds, after which the connection is taken for broken. */
const SILENCE = 75_000;

interface Follow {
  /** The stream goes on after this one. */
  readonly lastEventId: string | undefined;
  readonly opened: () => void;
  readonly take: (line: Line) => void;
}

/** Follows the events of the account until the connection ends. @throws ApiError when the service refuses it */
export async function followOnce({ lastEventId, opened, take }: Follow): Promise<void> {
  const silent = new AbortController();
  const { data } = await api.GET('/v1/events/stream', {
    params: { query: { format: 'ndjson', ...(lastEventId !== undefined && { lastEventId }) } },
    headers: { accept: 'application/x-ndjson' },
    parseAs: 'stream',
    signal: silent.signal,
  });
  if (!data) return;
  opened();
  const reader = data.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const timer = setTimeout(() => silent.abort(), SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    const lines = `${rest}${value}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') take(lineIn(line));
  }
}

function lineIn(line: string): Line {
  const read: LiveEvent = JSON.parse(line);
  return read.type === 'gap' ? { gap: true } : { event: read };
}

/** The events since a time, while no stream can be had. Reading them is no use of the session. */
export async function eventsSince(since: string): Promise<readonly LiveEvent[]> {
  const { data } = await api.GET('/v1/events', {
    params: { query: { since, limit: 500 } },
    headers: { 'behest-background': '1' },
  });
  return data?.events ?? [];
}
