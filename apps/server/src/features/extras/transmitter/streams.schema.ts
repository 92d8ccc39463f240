import { Id, recordOf } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

export const PUSH = 'urn:ietf:rfc:8935';
export const POLL = 'urn:ietf:rfc:8936';

const open = { additionalProperties: true }; // the standards let a peer send more
const Text = Type.String({ maxLength: 4096 });
const Events = Type.Array(Type.String({ maxLength: 512 }), { maxItems: 100 });

/** The members of a stream that its receiver writes, and copies of those that the service writes. */
const written = {
  events_requested: Type.Optional(Events),
  delivery: Type.Optional(
    Type.Object(
      {
        method: Type.String({ maxLength: 256 }),
        endpoint_url: Type.Optional(Type.String({ maxLength: 2048 })),
        authorization_header: Type.Optional(
          Type.String({ minLength: 1, maxLength: 4096, pattern: '^[ -~]*$' }),
        ),
      },
      open,
    ),
  ),
  description: Type.Optional(Text),
  iss: Type.Optional(Text),
  aud: Type.Optional(Type.Union([Text, Type.Array(Text, { maxItems: 10 })])),
  events_supported: Type.Optional(Events),
  events_delivered: Type.Optional(Events),
  min_verification_interval: Type.Optional(Type.Integer()),
  inactivity_timeout: Type.Optional(Type.Integer()),
};

export type NewStream = Static<typeof NewStream>;
export const NewStream = Type.Object(written, open);

export type StreamChange = Static<typeof StreamChange>;
export const StreamChange = Type.Object({ stream_id: Id, ...written }, open);

/** The configuration of a stream. @see OpenID Shared Signals Framework 1.0 §8.1.1 */
export type StreamConfiguration = Static<typeof StreamConfiguration>;
export const StreamConfiguration = Type.Object({
  stream_id: Id,
  iss: Type.String(),
  aud: Type.String(),
  events_supported: Type.Array(Type.String()),
  events_requested: Type.Array(Type.String()),
  events_delivered: Type.Array(Type.String()),
  delivery: Type.Object({ method: Type.String(), endpoint_url: Type.String() }),
  min_verification_interval: Type.Integer(),
  description: Type.Optional(Type.String()),
  inactivity_timeout: Type.Optional(Type.Integer()),
});

export const StreamQuery = Type.Object({ stream_id: Type.Optional(Id) });
export const OneStream = Type.Object({ stream_id: Id });

const Status = Type.Enum(['enabled', 'paused', 'disabled']);

export type StatusChange = Static<typeof StatusChange>;
export const StatusChange = Type.Object(
  { stream_id: Id, status: Status, reason: Type.Optional(Type.String({ maxLength: 200 })) },
  open,
);

export type StreamStatus = Static<typeof StreamStatus>;
export const StreamStatus = Type.Object({
  stream_id: Id,
  status: Status,
  reason: Type.Optional(Type.String()),
});

export type VerificationRequest = Static<typeof VerificationRequest>;
export const VerificationRequest = Type.Object(
  { stream_id: Id, state: Type.Optional(Type.String({ maxLength: 1024 })) },
  open,
);

export const PollPath = Type.Object({ id: Id });

const Jti = Type.String({ maxLength: 256 });

/** RFC 8936 §2.2. */
export type PollRequest = Static<typeof PollRequest>;
export const PollRequest = Type.Object(
  {
    maxEvents: Type.Integer({
      minimum: 0,
      default: 100,
      description: 'The most signals that the receiver takes. The service answers with 100 at most.',
    }),
    returnImmediately: Type.Boolean({ default: false }),
    ack: Type.Optional(Type.Array(Jti, { maxItems: 1000 })),
    setErrs: Type.Optional(
      recordOf(
        Jti,
        Type.Object(
          {
            err: Type.String({ maxLength: 64 }),
            description: Type.Optional(Type.String({ maxLength: 1024 })),
          },
          open,
        ),
        { maxProperties: 1000 },
      ),
    ),
  },
  open,
);

/** RFC 8936 §2.3. */
export type PolledSets = Static<typeof PolledSets>;
export const PolledSets = Type.Object({
  sets: recordOf(Type.String(), Type.String()),
  moreAvailable: Type.Optional(Type.Boolean()),
});

/** The metadata of the transmitter. @see OpenID Shared Signals Framework 1.0 §7.1 */
export type TransmitterMetadata = Static<typeof TransmitterMetadata>;
export const TransmitterMetadata = Type.Object({
  spec_version: Type.String(),
  issuer: Type.String(),
  jwks_uri: Type.String(),
  delivery_methods_supported: Type.Array(Type.String()),
  configuration_endpoint: Type.String(),
  status_endpoint: Type.String(),
  verification_endpoint: Type.String(),
  authorization_schemes: Type.Array(Type.Object({ spec_urn: Type.String() })),
  default_subjects: Type.String(),
});
