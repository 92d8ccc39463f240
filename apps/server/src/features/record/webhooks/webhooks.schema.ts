import { Id, NextCursor, pageQuery, Time, textOf } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Status = Type.Enum(['active', 'disabled']);
const Nullable = Type.Union([Type.String(), Type.Null()]);
const NullableTime = Type.Union([Time, Type.Null()]);

/** `ocsf` is the form of the Open Cybersecurity Schema Framework, which a SIEM reads. */
const Format = Type.Enum(['envelope', 'ocsf']);

const Url = Type.String({ minLength: 1, maxLength: 2048 }); // platform/egress has the rules
const Patterns = Type.Array(Type.String({ maxLength: 128 }), { minItems: 1, maxItems: 100 });

export type NewWebhook = Static<typeof NewWebhook>;
export const NewWebhook = Type.Object(
  {
    url: Url,
    events: Patterns,
    format: Type.Enum(['envelope', 'ocsf'], { default: 'envelope' }),
    description: Type.String({ ...textOf(200), default: '' }),
  },
  { additionalProperties: false },
);

export type WebhookChange = Static<typeof WebhookChange>;
export const WebhookChange = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Patterns),
    format: Type.Optional(Format),
    description: Type.Optional(textOf(200)),
    status: Type.Optional(Status),
  },
  { additionalProperties: false, minProperties: 1 },
);

const members = {
  webhookId: Id,
  id: Id,
  url: Type.String(),
  events: Type.Array(Type.String()),
  format: Format,
  status: Status,
  description: Type.String(),
  createdAt: Time,
  updatedAt: Time,
  lastDeliveryAt: NullableTime,
  secretRotatedAt: NullableTime,
  previousSecretExpiresAt: NullableTime,
};

/** `webhookId` and `id` are equal, because some clients read the first and some the second. */
export type Webhook = Static<typeof Webhook>;
export const Webhook = Type.Object(members);

/** Only this answer shows the secret. */
export type CreatedWebhook = Static<typeof CreatedWebhook>;
export const CreatedWebhook = Type.Object({ ...members, secret: Type.String() });

export type WebhookSecretRotation = Static<typeof WebhookSecretRotation>;
export const WebhookSecretRotation = Type.Object(
  { graceSeconds: Type.Integer({ minimum: 0, maximum: 604_800, default: 86_400 }) },
  { additionalProperties: false },
);

export type RotatedWebhookSecret = Static<typeof RotatedWebhookSecret>;
export const RotatedWebhookSecret = Type.Object({
  id: Id,
  secret: Type.String(),
  previousSecretExpiresAt: Time,
});

export const WebhookPath = Type.Object({ id: Id });

export type DeliveryPath = Static<typeof DeliveryPath>;
export const DeliveryPath = Type.Object({ id: Id, deliveryId: Id });

export type WebhookQuery = Static<typeof WebhookQuery>;
export const WebhookQuery = Type.Object(pageQuery('wh'));

export type WebhookPage = Static<typeof WebhookPage>;
export const WebhookPage = Type.Object({ webhooks: Type.Array(Webhook), nextCursor: NextCursor });

const DeliveryStatus = Type.Enum(['pending', 'delivered', 'failed']);

export type WebhookDelivery = Static<typeof WebhookDelivery>;
export const WebhookDelivery = Type.Object({
  id: Id,
  webhookId: Id,
  eventId: Id,
  eventType: Type.String(),
  status: DeliveryStatus,
  attempts: Type.Integer(),
  maxAttempts: Type.Integer(),
  url: Type.String(),
  lastError: Nullable,
  lastStatusCode: Type.Union([Type.Integer(), Type.Null()]),
  createdAt: Time,
  lastAttemptAt: NullableTime,
  nextAttemptAt: NullableTime,
  deliveredAt: NullableTime,
});

const DeliveryAttempt = Type.Object({
  n: Type.Integer({ description: 'Counts on when a failed delivery is put back into the queue.' }),
  at: Time,
  statusCode: Type.Union([Type.Integer(), Type.Null()]),
  error: Nullable,
  durationMs: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
});

export type WebhookDeliveryDetail = Static<typeof WebhookDeliveryDetail>;
export const WebhookDeliveryDetail = Type.Object({
  ...WebhookDelivery.properties,
  attemptLog: Type.Array(DeliveryAttempt, {
    description: 'The latest attempts, at most 20, oldest first. No part of an answer is kept.',
  }),
  payload: Type.String({
    description: 'The exact text of the body, in the format that the webhook has now.',
  }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'What was sent beside it at the last attempt, without the signatures.',
  }),
});

export type RecoverRequest = Static<typeof RecoverRequest>;
export const RecoverRequest = Type.Object(
  { since: Time, until: Type.Optional(Time) },
  { additionalProperties: false },
);

export type RecoveredDeliveries = Static<typeof RecoveredDeliveries>;
export const RecoveredDeliveries = Type.Object({
  requeued: Type.Integer({ minimum: 0 }),
  complete: Type.Boolean({ description: 'False when more are left: send the request again.' }),
});

export type DeliveryQuery = Static<typeof DeliveryQuery>;
export const DeliveryQuery = Type.Object({
  status: Type.Optional(DeliveryStatus),
  eventType: Type.Optional(Type.String({ maxLength: 128 })),
  page: Type.Optional(Type.Integer({ minimum: 1 })),
  pageSize: Type.Optional(Type.Integer({ minimum: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  cursor: pageQuery('whd').cursor,
});

export type WebhookDeliveryPage = Static<typeof WebhookDeliveryPage>;
export const WebhookDeliveryPage = Type.Object({
  deliveries: Type.Array(WebhookDelivery),
  total: Type.Integer(),
  page: Type.Integer(),
  pageSize: Type.Integer(),
  nextCursor: NextCursor,
});

export type WebhookTest = Static<typeof WebhookTest>;
export const WebhookTest = Type.Object({ eventId: Id, deliveryId: Id });
