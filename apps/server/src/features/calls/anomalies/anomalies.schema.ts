import { Email, Id, NextCursor, nameOf, pageQuery, recordOf, Time, textOf } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Severity = Type.Enum(['low', 'medium', 'high', 'critical']);
const Status = Type.Enum(['open', 'acknowledged', 'resolved']);
const Nullable = Type.Union([Type.String(), Type.Null()]);
const NullableTime = Type.Union([Time, Type.Null()]);
const Metadata = Type.Object({}, { additionalProperties: true });

export type Anomaly = Static<typeof Anomaly>;
export const Anomaly = Type.Object({
  id: Id,
  type: Type.String(),
  severity: Severity,
  agentId: Nullable,
  principalId: Nullable,
  description: Type.String(),
  metadata: Metadata,
  detectedAt: Time,
  acknowledgedAt: NullableTime,
});

export type AnomalyDetection = Static<typeof AnomalyDetection>;
export const AnomalyDetection = Type.Object({
  detectedAt: Time,
  total: Type.Integer(),
  anomalies: Type.Array(Anomaly),
  autoRevokedGrants: Type.Integer(),
});

export type AnomalyQuery = Static<typeof AnomalyQuery>;
export const AnomalyQuery = Type.Object({
  unacknowledged: Type.Enum(['true', 'false'], { default: 'false' }),
  ...pageQuery('anm'),
});

export type AnomalyPage = Static<typeof AnomalyPage>;
export const AnomalyPage = Type.Object({
  anomalies: Type.Array(Anomaly),
  total: Type.Integer(),
  nextCursor: NextCursor,
});

export const AnomalyPath = Type.Object({ id: Id });
export const AlertPath = Type.Object({ alertId: Id });

/** The same record with its life cycle. */
export type Alert = Static<typeof Alert>;
export const Alert = Type.Object({
  alertId: Id,
  ruleId: Type.String(),
  ruleName: Type.String(),
  severity: Severity,
  status: Status,
  agentId: Nullable,
  principalId: Nullable,
  grantId: Nullable,
  detectedAt: Time,
  lastSeenAt: Time,
  occurrences: Type.Integer(),
  description: Type.String(),
  context: Metadata,
  acknowledgedAt: NullableTime,
  resolvedAt: NullableTime,
  note: Nullable,
});

export type AlertQuery = Static<typeof AlertQuery>;
export const AlertQuery = Type.Object({
  status: Type.Optional(Status),
  severity: Type.Optional(Severity),
  agentId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
  cursor: pageQuery('anm').cursor,
});

export type AlertPage = Static<typeof AlertPage>;
export const AlertPage = Type.Object({ data: Type.Array(Alert), nextCursor: NextCursor });

export type AlertNote = Static<typeof AlertNote>;
export const AlertNote = Type.Object({ note: Type.Optional(textOf(2000)) }, { additionalProperties: false });

export type MetricsQuery = Static<typeof MetricsQuery>;
export const MetricsQuery = Type.Object({
  window: Type.Enum(['1h', '6h', '24h', '7d', '30d'], { default: '24h' }),
  agentId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
});

const Count = Type.Integer();

export type AnomalyMetrics = Static<typeof AnomalyMetrics>;
export const AnomalyMetrics = Type.Object({
  window: Type.String(),
  total: Count,
  byStatus: Type.Object({ open: Count, acknowledged: Count, resolved: Count }),
  bySeverity: Type.Object({ critical: Count, high: Count, medium: Count, low: Count }),
  byRule: recordOf(Type.String(), Count),
});

const Ids = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 100 });

export type Condition = Static<typeof Condition>;
const Condition = Type.Object(
  {
    timeWindow: Type.Enum(['5m', '15m', '1h', '6h', '24h']),
    threshold: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    agentIds: Type.Optional(Ids),
    scopes: Type.Optional(Ids),
    actions: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Za-z0-9._:/-]{0,128}[*]?$', minLength: 1 }), {
        minItems: 1,
        maxItems: 100,
      }),
    ),
    statuses: Type.Optional(
      Type.Array(Type.Enum(['success', 'failure', 'blocked']), { minItems: 1, maxItems: 3 }),
    ),
  },
  { additionalProperties: false },
);

const Response = Type.Enum(['none', 'revoke_grants', 'suspend_agent']);
const Channels = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 20 });

export type NewAnomalyRule = Static<typeof NewAnomalyRule>;
export const NewAnomalyRule = Type.Object(
  {
    ruleId: Type.String({ pattern: '^[a-z][a-z0-9_-]{1,63}$' }),
    name: nameOf(200),
    description: Type.String({ ...textOf(2000), default: '' }),
    severity: Type.Enum(['low', 'medium', 'high', 'critical'], { default: 'medium' }),
    response: Type.Enum(['none', 'revoke_grants', 'suspend_agent'], { default: 'none' }),
    alertChannels: Type.Optional(Channels),
    condition: Condition,
  },
  { additionalProperties: false },
);

export type AnomalyRuleChange = Static<typeof AnomalyRuleChange>;
export const AnomalyRuleChange = Type.Object(
  {
    name: Type.Optional(nameOf(200)),
    description: Type.Optional(textOf(2000)),
    severity: Type.Optional(Severity),
    response: Type.Optional(Response),
    enabled: Type.Optional(Type.Boolean()),
    alertChannels: Type.Optional(Channels),
    condition: Type.Optional(Condition),
  },
  { additionalProperties: false, minProperties: 1 },
);

/** A built-in rule, or a developer's own, which has an `id`, a condition and channels too. */
export type AnomalyRule = Static<typeof AnomalyRule>;
export const AnomalyRule = Type.Object({
  builtIn: Type.Boolean(),
  ruleId: Type.String(),
  name: Type.String(),
  severity: Severity,
  description: Type.String(),
  enabled: Type.Boolean(),
  response: Response,
  id: Type.Optional(Id),
  condition: Type.Optional(Condition),
  alertChannels: Type.Optional(Type.Array(Type.String())),
  createdAt: Type.Optional(Time),
});

export type AnomalyRuleList = Static<typeof AnomalyRuleList>;
export const AnomalyRuleList = Type.Object({ rules: Type.Array(AnomalyRule) });

export const RulePath = Type.Object({ ruleId: Id });

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

export type AnomalyChannelChange = Static<typeof AnomalyChannelChange>;
export const AnomalyChannelChange = Type.Object(
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
export type RecipientConfirmation = Static<typeof RecipientConfirmation>;
export const RecipientConfirmation = Type.Object({
  account: Type.String(),
  email: Type.String(),
  status: Type.Enum(['pending', 'confirmed']),
});

export type AnomalyChannelList = Static<typeof AnomalyChannelList>;
export const AnomalyChannelList = Type.Object({ channels: Type.Array(AnomalyChannel) });
export const ChannelPath = Type.Object({ id: Id });
export const AnomalyChannelTest = Type.Object({ messageId: Id });
