import { Id, NextCursor, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

/**
 * The shape of an event for the API description. The service sends the text that was written with the act.
 */
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

/** Names of types and areas, separated by commas. */
const Types = Type.String({ minLength: 1, maxLength: 4096, default: '*' });

export type EventQuery = Static<typeof EventQuery>;
export const EventQuery = Type.Object({
  types: Types,
  since: Type.Optional(Time),
  until: Type.Optional(Time),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  /** The number up to which the page before it looked. */
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
});

const following = {
  types: Types,
  /** For clients that cannot send the header `Last-Event-ID`. The header takes precedence. */
  lastEventId: Type.Optional(Type.String({ pattern: '^[ -~]{1,256}$' })),
};

export type StreamFormat = Static<typeof StreamFormat>;
const StreamFormat = Type.Enum(['sse', 'ndjson', 'ocsf'], { default: 'sse' });

export const StreamQuery = Type.Object({
  ...following,
  format: StreamFormat,
  for: Type.Optional(
    Type.Enum(['verifier'], {
      description: 'Counts the stream among those of verifiers, of which an account may have 50.',
    }),
  ),
});

export const SocketQuery = Type.Object(following);

/** A JSON text, because the events in it are JSON texts already. */
export const EventPage = Type.Unsafe<string>(
  Type.Object({ events: Type.Array(Event), nextCursor: NextCursor }),
);
