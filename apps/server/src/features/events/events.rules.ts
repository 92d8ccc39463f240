import type { Act } from './events.schema.ts';

export interface Envelope {
  readonly id: string;
  readonly developerId: string;
  readonly at: Date;
  readonly isSandbox: boolean;
}

/** The event's one text, in which every subscriber receives it, since it is signed byte for byte. */
export function envelopeOf(act: Act, { id, developerId, at, isSandbox }: Envelope): string {
  const { type, data, evidence: _, agentDid: __, purpose, ...ids } = act;
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
