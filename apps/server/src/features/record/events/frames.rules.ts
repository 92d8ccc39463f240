import type { StreamFormat } from './events.schema.ts';
import { envelopeToOcsf, gapToOcsf } from './ocsf-stream.rules.ts';

/** The texts of a stream in one format. */
export interface Framing {
  readonly mediaType: string;
  event(id: string, type: string, envelope: string): string;
  gap(cursor: string, at: Date): string;
  readonly keepalive: string;
  /** The last words of a stream that the service ends. */
  readonly closing: string;
}

/** Readers of lines of JSON skip empty lines, so an empty line keeps a stream alive. */
const EMPTY = '\n';
const lines = { mediaType: 'application/x-ndjson; charset=utf-8', keepalive: EMPTY, closing: EMPTY } as const;

export const framings: Readonly<Record<StreamFormat, Framing>> = {
  /** The HTML standard's format of server-sent events. JSON escapes line ends, so an envelope is one line. */
  sse: {
    mediaType: 'text/event-stream',
    event: (id, type, envelope) => `id: ${id}\nevent: ${type}\ndata: ${envelope}\n\n`,
    /** The frame has no id, so a client that reconnects resumes after the last event that it has seen. */
    gap: (cursor) => `event: gap\ndata: ${gapText(cursor)}\n\n`,
    keepalive: ': keepalive\n\n',
    closing: ': closing\n\n',
  },
  ndjson: {
    ...lines,
    event: (_id, _type, envelope) => `${envelope}\n`,
    gap: (cursor) => `${gapText(cursor)}\n`,
  },
  ocsf: {
    ...lines,
    event: (_id, _type, envelope) => `${envelopeToOcsf(envelope)}\n`,
    gap: (cursor, at) => `${gapToOcsf(cursor, at)}\n`,
  },
};

/** The text has the shape of an event, without the members that only events have. */
export const gapText = (cursor: string): string => JSON.stringify({ type: 'gap', data: { cursor } });
