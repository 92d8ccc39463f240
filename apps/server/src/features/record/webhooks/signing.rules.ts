import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** A secret in the form of Standard Webhooks: a prefix and the HMAC key in base64. */
export const newWebhookSecret = (): string => PREFIX + randomBytes(32).toString('base64');

export interface Signed {
  readonly eventId: string;
  readonly eventType: string;
  readonly deliveryId: string;
  /** Exactly the text that is sent. */
  readonly body: string;
  /** The time of this attempt. */
  readonly at: Date;
  readonly secret: string;
  /** The secret before the last rotation, during its grace period. */
  readonly previousSecret: string | undefined;
}

/** The headers of a delivery. @see https://www.standardwebhooks.com */
export function deliveryHeaders(signed: Signed): Record<string, string> {
  const { eventId, eventType, deliveryId, body, secret, previousSecret } = signed;
  const timestamp = String(Math.floor(signed.at.getTime() / 1000));
  const keys = previousSecret === undefined ? [secret] : [secret, previousSecret];
  const standard = keys.map((key) => `v1,${standardHmac(key, `${eventId}.${timestamp}.${body}`)}`);
  return {
    'content-type': 'application/json',
    'user-agent': 'Service-Webhooks/0.1',
    'x-service-signature': `sha256=${textHmac(secret, body)}`,
    'x-service-timestamp': timestamp,
    'x-service-signature-v2': `sha256=${textHmac(secret, `${timestamp}.${body}`)}`,
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.join(' '),
    'x-service-delivery': deliveryId,
    'x-service-event': eventType,
  };
}

const textHmac = (secret: string, message: string) =>
  createHmac('sha256', secret).update(message).digest('hex');

const standardHmac = (secret: string, message: string) =>
  createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .update(message)
    .digest('base64');
