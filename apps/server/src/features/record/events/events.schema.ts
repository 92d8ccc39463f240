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
