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

const Delivery = Type.Enum(['push', 'poll']);

const Printable = Type.String({ minLength: 1, maxLength: 1024, pattern: '^[ -~]+$' });
const Token = Type.String({ minLength: 1, maxLength: 4096, pattern: '^[!-~]+$' });

export type StreamAuth = Static<typeof StreamAuth>;
const StreamAuth = Type.Union(
  [
    Type.Object({ type: Type.Literal('bearer'), token: Token }, { additionalProperties: false }),
    Type.Object(
      {
        type: Type.Literal('client_credentials'),
        tokenEndpoint: Url,
        clientId: Printable,
        clientSecret: Printable,
        scope: Type.Optional(Printable),
      },
      { additionalProperties: false },
    ),
  ],
  {
    description:
      'The credential with which the service makes the stream at the transmitter. It is in no answer, so send it with every write. Without it an administrator makes the stream.',
  },
);

export type SetSsoSignals = Static<typeof SetSsoSignals>;
export const SetSsoSignals = Type.Object(
  {
    transmitter: Type.Optional(Url),
    delivery: Type.Optional(Delivery),
    auth: Type.Optional(StreamAuth),
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
  endpointUrl: Type.String({ description: 'The address to which the identity provider pushes signals.' }),
  requireHeader: Type.Boolean(),
  onSessionRevoked: OnSessionRevoked,
  tenant: nullable(Type.String()),
  authType: Type.Union([Type.Enum(['bearer', 'client_credentials']), Type.Null()]),
  streamId: Type.Union([
    Type.String({ description: 'The name of the stream that the service made at the transmitter.' }),
    Type.Null(),
  ]),
  lastPolledAt: Type.Union([Time, Type.Null()]),
  lastError: Type.Union([
    Type.String({
      description:
        'The reason why the last poll, or request for a verification, failed, such as `poll.http_401`.',
    }),
    Type.Null(),
  ]),
  lastSignalAt: Type.Union([Time, Type.Null()]),
  silentSince: Type.Union([
    Type.String({
      format: 'date-time',
      description: 'When the service told that it had heard no verification for 48 h, and none came since.',
    }),
    Type.Null(),
  ]),
  verifiedAt: Type.Union([Time, Type.Null()]),
  createdAt: Time,
  updatedAt: Time,
};

export type SsoSignals = Static<typeof SsoSignals>;
export const SsoSignals = Type.Object(members);

export type CreatedSsoSignals = Static<typeof CreatedSsoSignals>;
export const CreatedSsoSignals = Type.Object({
  ...members,
  authorizationHeader: Type.Optional(
    Type.String({
      description:
        'The `Authorization` of every signal. Shown once, where an administrator has to enter it at the transmitter.',
    }),
  ),
});

export const SignalsPath = Type.Object({ id: Id });

/** Any text: a stranger learns nothing from the form of an id. */
export const ReceivePath = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) });

/** The token of the body. */
export const SecurityEventToken = Type.Object(
  { set: Type.String({ minLength: 1 }) },
  { additionalProperties: false },
);
