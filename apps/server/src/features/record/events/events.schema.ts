import { Id, NextCursor, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

/** What subscribers receive, as it is described; it is sent as the one text that was written with the act. */
const Event = Type.Object({
  id: Id,
  type: Type.String(),
  createdAt: Time,
  timestamp: Time,
  developerId: Id,
  specVersion: Type.String(),
  sandbox: Type.Optional(Type.Boolean()),
  data: Type.Object({}, { additionalProperties: true }),
});

/** Names of types and areas, with commas between them. */
const Types = Type.String({ minLength: 1, maxLength: 4096, default: '*' });

export type EventQuery = Static<typeof EventQuery>;
export const EventQuery = Type.Object({
  types: Types,
  since: Type.Optional(Time),
  until: Type.Optional(Time),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  /** The number up to which the page before has looked. */
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
});

export const StreamQuery = Type.Object({
  types: Types,
  /** For clients that cannot send the header `Last-Event-ID`, which comes before it. */
  lastEventId: Type.Optional(Type.String({ pattern: '^[ -~]{1,256}$' })),
});

/** Its text, since the events in it are texts already. */
export const EventPage = Type.Unsafe<string>(
  Type.Object({ events: Type.Array(Event), nextCursor: NextCursor }),
);

/** Every kind of act with the data that is its own. A new kind is one line here. */
export interface Acts {
  'developer.created': { readonly mode: 'live' | 'sandbox' };
  'developer.updated': Changed;
  'apikey.created': NamedKey;
  'apikey.rotated': NamedKey;
  'apikey.revoked': NamedKey;
  'agent.created': Named;
  'agent.updated': Named & Changed;
  'agent.suspended': Named;
  'agent.resumed': Named;
  'agent.revoked': Named & { readonly revokedGrants: number };
  'authorization.requested': { readonly authRequestId: string; readonly scopes: readonly string[] };
  'authorization.approved': {
    readonly authRequestId: string;
    readonly scopes: readonly string[];
    readonly method: string;
    readonly narrowed: boolean;
    readonly unverified?: true;
  };
  'authorization.denied': { readonly authRequestId: string; readonly reason?: string };
  'authorization.cancelled': { readonly authRequestId: string };
  'authorization.expired': { readonly authRequestId: string };
  'grant.created': {
    readonly scopes: readonly string[];
    readonly expiresAt: string;
    readonly audience?: string;
    readonly consentMethod: string;
    readonly unverified?: true;
    readonly parentGrantId?: string;
    readonly delegationDepth: number;
  };
  'grant.revoked': {
    readonly rootGrantId: string;
    readonly reason: string;
    readonly cascade: boolean;
    readonly revokedBy: string;
    readonly causedBy?: string;
  };
  'token.issued': {
    readonly tokenId: string;
    readonly scopes: readonly string[];
    readonly expiresAt: string;
    readonly refreshed: boolean;
  };
  'token.revoked': { readonly tokenId: string };
  'token.reuse_detected': { readonly kind: 'code' | 'refresh'; readonly revoked: boolean };
  'principal.session_created': { readonly sessionId: string };
  'webhook.created': { readonly webhookId: string; readonly events: readonly string[] };
  'webhook.updated': Changed & { readonly webhookId: string };
  'webhook.deleted': { readonly webhookId: string };
}

/** Every kind of event that is no act: subscribers are told of it, and the audit log is not. */
export interface Announcements {
  'grant.expired': { readonly expiresAt: string };
  'webhook.test': { readonly webhookId: string };
}

interface Named {
  readonly name: string;
}
interface NamedKey extends Named {
  readonly keyId: string;
}
interface Changed {
  readonly changed: readonly string[];
}

/** Whom an act concerns: members of its audit entry, and of its event's data. */
export interface Concerned {
  readonly developerId?: string;
  readonly agentId?: string;
  /** In the entry only. */
  readonly agentDid?: string;
  readonly grantId?: string;
  readonly principalId?: string;
  readonly purpose?: string | undefined;
}

/** What is only told, and not written to the audit log. */
export type Announcement = {
  [Type in keyof Announcements]: Concerned & { readonly type: Type; readonly data: Announcements[Type] };
}[keyof Announcements];

/** Something that was done: the one statement from which both its audit entry and its event are made. */
export type Act = {
  [Type in keyof Acts]: Concerned & {
    readonly type: Type;
    readonly data: Acts[Type];
    /** What only the audit entry tells: the browser a decision came from, the old and the new setting. */
    readonly evidence?: Readonly<Record<string, unknown>>;
  };
}[keyof Acts];
