import { Id, NextCursor, nameOf, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const NullableTime = Type.Union([Time, Type.Null()]);
const Nullable = Type.Union([Type.String(), Type.Null()]);

const SubjectFormat = Type.Enum(['iss_sub', 'email']);
const SubjectShape = Type.Enum(['complex', 'simple']);
/** The URIs of signals. The ceiling of what a receiver's streams deliver. */
const Events = Type.Array(Type.String({ maxLength: 512 }), { minItems: 1, maxItems: 20 });

export type NewReceiver = Static<typeof NewReceiver>;
export const NewReceiver = Type.Object(
  {
    name: nameOf(100),
    audience: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, pattern: '^[!-~]*$' })),
    events: Type.Optional(Events),
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
    events: Type.Optional(Events),
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
export type RegisteredReceiver = Static<typeof RegisteredReceiver>;
export const RegisteredReceiver = Type.Object({ ...members, ...secrets });

export type ReceiverRotation = Static<typeof ReceiverRotation>;
export const ReceiverRotation = Type.Object(
  { graceSeconds: Type.Integer({ minimum: 0, maximum: 604_800, default: 86_400 }) },
  { additionalProperties: false },
);

export type RotatedReceiver = Static<typeof RotatedReceiver>;
export const RotatedReceiver = Type.Object({ id: Id, ...secrets, previousSecretExpiresAt: Time });

export const ReceiverPath = Type.Object({ id: Id });

export type ReceiverQuery = Static<typeof ReceiverQuery>;
export const ReceiverQuery = Type.Object(pageQuery('ssfr'));

export type ReceiverPage = Static<typeof ReceiverPage>;
export const ReceiverPage = Type.Object({ receivers: Type.Array(Receiver), nextCursor: NextCursor });

const Status = Type.Enum(['enabled', 'paused', 'disabled']);

/** A stream as its developer sees it. Its header is never shown. */
export type ShownStream = Static<typeof ShownStream>;
export const ShownStream = Type.Object({
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

export type ShownStreams = Static<typeof ShownStreams>;
export const ShownStreams = Type.Object({ streams: Type.Array(ShownStream) });

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
