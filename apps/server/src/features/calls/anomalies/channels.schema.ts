import { Email, Id, nameOf, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const ChannelType = Type.Enum(['webhook', 'slack', 'email']);
const Severities = Type.Array(Type.Enum(['low', 'medium', 'high', 'critical']), {
  minItems: 1,
  maxItems: 4,
});
const Url = Type.String({ minLength: 1, maxLength: 2048 }); // platform/egress has the rules

/** The members that the type of the channel needs, and no others. */
export type Config = Static<typeof Config>;
const Config = Type.Object(
  {
    url: Type.Optional(Url),
    secret: Type.Optional(Type.String({ minLength: 16, maxLength: 256, pattern: '^[ -~]*$' })),
    webhookUrl: Type.Optional(Url),
    to: Type.Optional(Type.Array(Email, { minItems: 1, maxItems: 10 })),
  },
  { additionalProperties: false },
);

export type NewAnomalyChannel = Static<typeof NewAnomalyChannel>;
export const NewAnomalyChannel = Type.Object(
  {
    type: ChannelType,
    name: nameOf(200),
    config: Config,
    severities: Type.Optional(Severities),
  },
  { additionalProperties: false },
);

export type ChannelChange = Static<typeof ChannelChange>;
export const ChannelChange = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    severities: Type.Optional(Severities),
    config: Type.Optional(Config),
  },
  { additionalProperties: false, minProperties: 1 },
);

/** URLs and secrets are masked. */
export type AnomalyChannel = Static<typeof AnomalyChannel>;
export const AnomalyChannel = Type.Object({
  id: Id,
  type: ChannelType,
  name: Type.String(),
  config: Type.Object({
    url: Type.Optional(Type.String()),
    secret: Type.Optional(Type.String()),
    webhookUrl: Type.Optional(Type.String()),
    to: Type.Optional(Type.Array(Type.String())),
  }),
  severities: Type.Array(Type.Enum(['low', 'medium', 'high', 'critical'])),
  enabled: Type.Boolean(),
  createdAt: Time,
  unconfirmed: Type.Optional(
    Type.Array(Type.String(), {
      description: 'The addresses that get no message until their holders confirm.',
    }),
  ),
});

export const ConfirmationPath = Type.Object({ token: Type.String() });
export type Confirmation = Static<typeof Confirmation>;
export const Confirmation = Type.Object({
  account: Type.String(),
  email: Type.String(),
  status: Type.Enum(['pending', 'confirmed']),
});

export type AnomalyChannelList = Static<typeof AnomalyChannelList>;
export const AnomalyChannelList = Type.Object({ channels: Type.Array(AnomalyChannel) });
export const ChannelPath = Type.Object({ id: Id });
export const AnomalyChannelTest = Type.Object({ messageId: Id });
