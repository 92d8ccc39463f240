import { JsonError, parseJson } from '@behest/protocol/json';
import type { Act, Announcement } from '../../../platform/acts.ts';
import { badField } from '../../../platform/errors.ts';
import type { Catalogue } from './events.catalogue.rules.ts';

const RETAINED_SECONDS = 72 * 3600;

/** Events of before are shown to nobody, and removed by and by. */
export const retainedSince = (now: Date): Date => new Date(now.getTime() - RETAINED_SECONDS * 1000);

/**
 * What a list with commas asks for: `grant.revoked,budget.*`.
 * @throws BAD_REQUEST for what names no event, since whoever waits for it would wait for ever.
 */
export function patternsIn({ isKnownPattern }: Catalogue, types: string): string[] {
  const patterns = types.split(',');
  const at = patterns.findIndex((pattern) => !isKnownPattern(pattern));
  if (at >= 0) throw badField(`types.${at}`, 'not_allowed', 'There are no events of this type.');
  return patterns;
}

/** What `{"types":["grant.revoked","budget.*"]}` asks for; nothing where a text is not just that. */
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

/** The event's one text, in which every subscriber receives it, since it is signed byte for byte. */
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

/** What of an act is counted: its type, and where an operator asks why, the reason, which is one of a few words. */
export function talliesOf({ type, data }: Act) {
  const act = { counter: 'acts', label: type } as const;
  return type === 'grant.revoked' ? [act, { counter: 'grantsRevoked', label: data.reason } as const] : [act];
}
