import { createHmac } from 'node:crypto';
import type { Config } from './anomalies.channels.schema.ts';

export type ChannelType = 'webhook' | 'slack' | 'email';

const NEEDED: Readonly<Record<ChannelType, readonly (keyof Config)[]>> = {
  webhook: ['url', 'secret'],
  slack: ['webhookUrl'],
  email: ['to'],
};

/** @returns the first member that is missing or one too many */
export function misfit(type: ChannelType, config: Config): keyof Config | undefined {
  const members: (keyof Config)[] = ['url', 'secret', 'webhookUrl', 'to'];
  return members.find((member) => NEEDED[type].includes(member) !== (config[member] !== undefined));
}

/** As answers show it: a URL of Slack is a secret as a whole, and any URL may carry one. */
export function masked({ url, secret, webhookUrl, to }: Config): Config {
  return {
    ...(url !== undefined && { url: origin(url) }),
    ...(secret !== undefined && { secret: '********' }),
    ...(webhookUrl !== undefined && { webhookUrl: origin(webhookUrl) }),
    ...(to && { to }),
  };
}

const origin = (url: string) => `${new URL(url).origin}/…`;

/** The facts of an alert that a message tells. */
export interface Told {
  readonly alertId: string;
  readonly ruleId: string;
  readonly ruleName: string;
  readonly severity: string;
  readonly agentId: string;
  readonly principalId: string | null;
  readonly grantId: string | null;
  readonly description: string;
  readonly detectedAt: string;
}

/** The body of a message, which all its attempts send. */
export function bodyOf(type: ChannelType, id: string, developerId: string, told: Told): string {
  const sentence = `${told.ruleName} (${told.severity}): ${told.description} Agent ${told.agentId}, alert ${told.alertId}.`;
  if (type === 'slack') return JSON.stringify({ text: escapeSlack(sentence) });
  if (type === 'email') return sentence;
  const envelope = { id, type: 'anomaly.detected', createdAt: told.detectedAt, developerId, data: told };
  return JSON.stringify(envelope);
}

/** @see https://docs.slack.dev/messaging/formatting-message-text, "Escaping text" */
const escapeSlack = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The signatures are those of webhooks. */
export function signedHeaders(id: string, secret: string, body: string, at: Date): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const hmac = (text: string) => `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
  return {
    'x-service-signature': hmac(body),
    'x-service-timestamp': timestamp,
    'x-service-signature-v2': hmac(`${timestamp}.${body}`),
    'x-service-delivery': id,
    'x-service-event': 'anomaly.detected',
  };
}

const FIRST_WAIT = 30; // seconds
const MOST_ATTEMPTS = 5;

/** @returns undefined after the last attempt */
export function nextAttempt(attempts: number, at: Date): Date | undefined {
  if (attempts >= MOST_ATTEMPTS) return undefined;
  return new Date(at.getTime() + FIRST_WAIT * 2 ** (attempts - 1) * 1000);
}
