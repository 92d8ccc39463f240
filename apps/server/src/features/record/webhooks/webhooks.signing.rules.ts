import { createHash, createHmac, type KeyObject, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** As Standard Webhooks has it: the base64 of what the HMAC is keyed with. */
export const newWebhookSecret = (): string => PREFIX + randomBytes(32).toString('base64');

/** To what place a sealed secret belongs: it opens in no other endpoint's row. */
export const secretBinding = (developerId: string, webhookId: string): Buffer =>
  Buffer.from(JSON.stringify(['behest-webhook-v1', developerId, webhookId]));

/** By which a row says what key it is sealed under, equal on every instance. */
export function sealKeyId(key: KeyObject): string {
  return createHash('sha256')
    .update('behest-webhook-seal-kid:')
    .update(key.export())
    .digest('hex')
    .slice(0, 16);
}

export interface Signed {
  readonly eventId: string;
  readonly eventType: string;
  readonly deliveryId: string;
  /** The very bytes that are sent. */
  readonly body: string;
  /** Of this attempt. */
  readonly at: Date;
  readonly secret: string;
  /** The one before, while it still counts. */
  readonly previousSecret: string | undefined;
}

/** Everything that a delivery is sent with. @see https://www.standardwebhooks.com */
export function deliveryHeaders(signed: Signed): Record<string, string> {
  const { eventId, eventType, deliveryId, body, secret, previousSecret } = signed;
  const timestamp = String(Math.floor(signed.at.getTime() / 1000));
  const keys = previousSecret === undefined ? [secret] : [secret, previousSecret];
  const standard = keys.map((key) => `v1,${standardHmac(key, `${eventId}.${timestamp}.${body}`)}`);
  return {
    'content-type': 'application/json',
    'user-agent': 'Service-Webhooks/0.1', // specification, Events
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
