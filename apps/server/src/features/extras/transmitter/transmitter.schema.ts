import { Id, NextCursor, nameOf, pageQuery, recordOf, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const NullableTime = Type.Union([Time, Type.Null()]);
const Nullable = Type.Union([Type.String(), Type.Null()]);

const SubjectFormat = Type.Enum(['iss_sub', 'email']);
const SubjectShape = Type.Enum(['complex', 'simple']);
/** The URIs of signals. The ceiling of what a receiver's streams deliver. */
const SignalTypes = Type.Array(Type.String({ maxLength: 512 }), { minItems: 1, maxItems: 20 });

export type NewReceiver = Static<typeof NewReceiver>;
export const NewReceiver = Type.Object(
  {
    name: nameOf(100),
    audience: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, pattern: '^[!-~]*$' })),
    events: Type.Optional(SignalTypes),
    subjectFormat: Type.Enum(['iss_sub', 'email'], { default: 'iss_sub' }),
    subjectShape: Type.Enum(['complex', 'simple'], { default: 'complex' }),
    staticToken: Type.Boolean({ default: false }),
  },
  { additionalProperties: false },
);

export type ReceiverChange = Static<typeof ReceiverChange>;
export const ReceiverChange = Type.Object(
  {
    name: Type.Optional(nameOf(100)),
    events: Type.Optional(SignalTypes),
    subjectFormat: Type.Optional(SubjectFormat),
    subjectShape: Type.Optional(SubjectShape),
  },
  { additionalProperties: false, minProperties: 1 },
);

const members = {
  receiverId: Id,
  id: Id,
  clientId: Id,
  name: Type.String(),
  audience: Type.String(),
  events: Type.Array(Type.String()),
  subjectFormat: SubjectFormat,
  subjectShape: SubjectShape,
  staticToken: Type.Boolean(),
  createdAt: Time,
  updatedAt: Time,
  secretRotatedAt: NullableTime,
  previousSecretExpiresAt: NullableTime,
};

/** `receiverId`, `id` and `clientId` are equal: it is also an OAuth client. */
export type Receiver = Static<typeof Receiver>;
export const Receiver = Type.Object(members);

const secrets = {
  clientSecret: Type.String(),
  /** Only receivers without OAuth have one. */
  accessToken: Type.Optional(Type.String()),
  accessTokenExpiresAt: Type.Optional(Time),
};

/** Only this answer shows the secrets. */
export type CreatedReceiver = Static<typeof CreatedReceiver>;
export const CreatedReceiver = Type.Object({ ...members, ...secrets });

export type ReceiverRotation = Static<typeof ReceiverRotation>;
export const ReceiverRotation = Type.Object(
  { graceSeconds: Type.Integer({ minimum: 0, maximum: 604_800, default: 86_400 }) },
  { additionalProperties: false },
);

export type RotatedReceiverSecret = Static<typeof RotatedReceiverSecret>;
export const RotatedReceiverSecret = Type.Object({ id: Id, ...secrets, previousSecretExpiresAt: Time });

export const ReceiverPath = Type.Object({ id: Id });

export type ReceiverQuery = Static<typeof ReceiverQuery>;
export const ReceiverQuery = Type.Object(pageQuery('ssfr'));

export type ReceiverPage = Static<typeof ReceiverPage>;
export const ReceiverPage = Type.Object({ receivers: Type.Array(Receiver), nextCursor: NextCursor });

const Status = Type.Enum(['enabled', 'paused', 'disabled']);

/** A stream as its developer sees it. Its header is never shown. */
export type ReceiverStream = Static<typeof ReceiverStream>;
export const ReceiverStream = Type.Object({
  streamId: Id,
  receiverId: Id,
  method: Type.Enum(['push', 'poll']),
  endpointUrl: Type.String(),
  events: Type.Array(Type.String()),
  status: Status,
  statusReason: Nullable,
  description: Nullable,
  failures: Type.Integer(),
  failingSince: NullableTime,
  polledAt: NullableTime,
  createdAt: Time,
  updatedAt: Time,
});

export type ReceiverStreamList = Static<typeof ReceiverStreamList>;
export const ReceiverStreamList = Type.Object({ streams: Type.Array(ReceiverStream) });

const DeliveryStatus = Type.Enum(['pending', 'delivered', 'failed']);

export type SetDeliveryQuery = Static<typeof SetDeliveryQuery>;
export const SetDeliveryQuery = Type.Object({
  ...pageQuery('whd'),
  status: Type.Optional(DeliveryStatus),
});

/** One signal on its way. The signal itself is never shown. */
export type SetDelivery = Static<typeof SetDelivery>;
export const SetDelivery = Type.Object({
  id: Id,
  streamId: Id,
  jti: Type.String(),
  eventId: Id,
  eventType: Type.String(),
  status: DeliveryStatus,
  attempts: Type.Integer(),
  maxAttempts: Type.Integer(),
  lastError: Nullable,
  lastStatusCode: Type.Union([Type.Integer(), Type.Null()]),
  createdAt: Time,
  lastAttemptAt: NullableTime,
  nextAttemptAt: NullableTime,
  deliveredAt: NullableTime,
});

export type SetDeliveryPage = Static<typeof SetDeliveryPage>;
export const SetDeliveryPage = Type.Object({ deliveries: Type.Array(SetDelivery), nextCursor: NextCursor });

export const PUSH = 'urn:ietf:rfc:8935';
export const POLL = 'urn:ietf:rfc:8936';

const open = { additionalProperties: true }; // the standards let a peer send more
const Text = Type.String({ maxLength: 4096 });
const EventUris = Type.Array(Type.String({ maxLength: 512 }), { maxItems: 100 });

/** The members of a stream that its receiver writes, and copies of those that the service writes. */
const written = {
  events_requested: Type.Optional(EventUris),
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
  events_supported: Type.Optional(EventUris),
  events_delivered: Type.Optional(EventUris),
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

export type StreamStatusChange = Static<typeof StreamStatusChange>;
export const StreamStatusChange = Type.Object(
  { stream_id: Id, status: Status, reason: Type.Optional(Type.String({ maxLength: 200 })) },
  open,
);

export type StreamStatus = Static<typeof StreamStatus>;
export const StreamStatus = Type.Object({
  stream_id: Id,
  status: Status,
  reason: Type.Optional(Type.String()),
});

export type StreamVerificationRequest = Static<typeof StreamVerificationRequest>;
export const StreamVerificationRequest = Type.Object(
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
export type PollResponse = Static<typeof PollResponse>;
export const PollResponse = Type.Object({
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
