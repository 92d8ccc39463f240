import { Id, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Url = Type.String({ minLength: 1, maxLength: 2048 });
const nullable = <Shape extends ReturnType<typeof Type.String>>(shape: Shape) =>
  Type.Union([shape, Type.Null()]);

export type OnSessionRevoked = Static<typeof OnSessionRevoked>;
const OnSessionRevoked = Type.Enum(['sessions', 'idp', 'all'], {
  description:
    'Grants that end with the sessions: `sessions` none, `idp` those that the person approved by single sign-on, `all` every one.',
});

const Delivery = Type.Enum(['push']);

export type NewSignals = Static<typeof NewSignals>;
export const NewSignals = Type.Object(
  {
    transmitter: Type.Optional(Url),
    delivery: Type.Optional(Delivery),
    audience: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
    requireHeader: Type.Optional(Type.Boolean()),
    onSessionRevoked: Type.Optional(OnSessionRevoked),
    tenant: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 256 }))),
  },
  { additionalProperties: false },
);

const members = {
  connectionId: Id,
  transmitter: Type.String(),
  delivery: Delivery,
  audience: Type.String(),
  endpointUrl: Type.String({ description: 'The address to which the identity provider sends signals.' }),
  requireHeader: Type.Boolean(),
  onSessionRevoked: OnSessionRevoked,
  tenant: nullable(Type.String()),
  lastSignalAt: Type.Union([Time, Type.Null()]),
  verifiedAt: Type.Union([Time, Type.Null()]),
  createdAt: Time,
  updatedAt: Time,
};

export type Signals = Static<typeof Signals>;
export const Signals = Type.Object(members);

export type PutSignals = Static<typeof PutSignals>;
export const PutSignals = Type.Object({
  ...members,
  authorizationHeader: Type.Optional(
    Type.String({ description: 'The `Authorization` of every signal. Shown once, when the source is made.' }),
  ),
});

export const SignalsPath = Type.Object({ id: Id });

/** Any text: a stranger learns nothing from the form of an id. */
export const ReceivePath = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });

/** The token of the body. */
export const ReceivedSet = Type.Object(
  { set: Type.String({ minLength: 1 }) },
  { additionalProperties: false },
);
