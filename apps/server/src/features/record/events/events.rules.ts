import { JsonError, parseJson } from '@behest/protocol/json';
import type { Act, Announcement } from '../../../platform/acts.ts';
import { badField } from '../../../platform/errors.ts';
import type { Catalogue } from './catalogue.rules.ts';
import type { StreamFormat } from './events.schema.ts';
import { envelopeToOcsf, gapToOcsf } from './ocsf.rules.ts';

const RETAINED_SECONDS = 72 * 3600;

/** Events before this time are no longer shown, and a job deletes them. */
export const retainedSince = (now: Date): Date => new Date(now.getTime() - RETAINED_SECONDS * 1000);

/**
 * Reads the patterns of a list with commas: `grant.revoked,budget.*`.
 * @throws BAD_REQUEST for a pattern that matches no event, because a consumer would wait for it for ever
 */
export function patternsIn({ isKnownPattern }: Catalogue, types: string): string[] {
  const patterns = types.split(',');
  const at = patterns.findIndex((pattern) => !isKnownPattern(pattern));
  if (at >= 0) throw badField(`types.${at}`, 'not_allowed', 'There are no events of this type.');
  return patterns;
}

/**
 * Reads the patterns of `{"types":["grant.revoked","budget.*"]}`.
 * @returns undefined for a text of another form.
 */
export function filterIn({ isKnownPattern }: Catalogue, text: Buffer): string[] | undefined {
  const { types, ...others } = objectIn(text);
  const isFilter = Array.isArray(types) && types.length > 0 && Object.keys(others).length === 0;
  return isFilter && types.every((type) => isKnownPattern(String(type))) ? types : undefined;
}

function objectIn(text: Buffer): { readonly types?: unknown } {
  try {
    return Object(parseJson(text));
  } catch (error) {
    if (error instanceof JsonError) return {};
    throw error;
  }
}

export interface Envelope {
  readonly id: string;
  readonly developerId: string;
  readonly at: Date;
  readonly isSandbox: boolean;
}

type EventSource = (Act | Announcement) & Pick<Act, 'evidence'>;

/** The text of an event. Every subscriber receives the same bytes, because webhooks sign them. */
export function envelopeOf(act: Act | Announcement, { id, developerId, at, isSandbox }: Envelope): string {
  const { type, data, evidence: _, agentDid: __, purpose, ...ids }: EventSource = act;
  const createdAt = at.toISOString();
  return JSON.stringify({
    id,
    type,
    createdAt,
    timestamp: createdAt,
    developerId,
    specVersion: '0.6',
    ...(isSandbox && { sandbox: true }),
    data: { ...ids, ...data, ...(purpose && { purpose }) },
  });
}

/** The counts of an act: its type, and for a revoked grant the reason, which is a word of a short list. */
export function talliesOf({ type, data }: Act) {
  const act = { counter: 'acts', label: type } as const;
  return type === 'grant.revoked' ? [act, { counter: 'grantsRevoked', label: data.reason } as const] : [act];
}

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
