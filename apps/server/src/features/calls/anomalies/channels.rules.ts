import { createHmac } from 'node:crypto';
import { escapeSlack, nameInMail } from '../../accounts/emails/index.ts';
import type { Config } from './anomalies.schema.ts';

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

/** As it is stored: with who was asked, by the hash of the link's secret, and who confirmed. */
export interface KeptConfig extends Config {
  readonly asked?: Readonly<
    Record<string, { readonly hash: string; readonly at: string; readonly isSent: boolean }>
  >;
  readonly confirmed?: readonly string[];
}

/** A new configuration with the answers of the addresses that it keeps. */
export function keepAnswers(config: Config, { asked = {}, confirmed = [] }: KeptConfig): KeptConfig {
  const { to } = config;
  if (!to) return config;
  const kept = Object.entries(asked).filter(([address]) => to.includes(address));
  return {
    ...config,
    asked: Object.fromEntries(kept),
    confirmed: confirmed.filter((each) => to.includes(each)),
  };
}

/** The body of a message that only asks recipients. */
export const ASKING = '';

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
export interface AlertFacts {
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

/** The account whose channel it is. */
export interface Account {
  readonly developerId: string;
  readonly developerName: string;
}

/** The body of a message, which all its attempts send. Texts begin with the service, because developers choose the names. */
export function bodyOf(type: ChannelType, id: string, account: Account, alert: AlertFacts): string {
  if (type === 'slack') return JSON.stringify({ text: escapeSlack(textOf(account, alert)) });
  if (type === 'email') return textOf(account, alert);
  const { developerId } = account;
  const envelope = { id, type: 'anomaly.detected', createdAt: alert.detectedAt, developerId, data: alert };
  return JSON.stringify(envelope);
}

const textOf = ({ developerName, developerId }: Account, alert: AlertFacts) =>
  `An agent of an account of Behest behaves unusually.

Account: ${nameInMail(developerName, developerId)}
Rule: ${nameInMail(alert.ruleName, alert.ruleId)}
Severity: ${alert.severity}
Alert: ${alert.alertId}
Agent: ${alert.agentId}

${alert.description}
`;

export const confirmationMail = ({ developerName, developerId }: Account, link: string) => ({
  subject: 'Do you want mails about agents that behave unusually?',
  account: nameInMail(developerName, developerId),
  text: `An account of Behest asks to send you a mail when one of its AI agents behaves unusually. Without your confirmation no other mail comes.

The account: ${nameInMail(developerName, developerId)}

If you want the mails, open the link and press the button:

    ${link}

If you do not know the account, do nothing.
`,
});

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
