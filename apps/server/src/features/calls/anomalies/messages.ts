import { systemCaller, type Tenant } from '../../../platform/caller.ts';
import { type ChargeRecipient, secondsUntilRoom } from '../../../platform/charge.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { newId } from '../../../platform/ids.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { postJson, type SendResult } from '../../../platform/outbound/attempts.ts';
import { sendDue } from '../../../platform/outbound/queue.ts';
import { findCallerParts, findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { rates as mailRates, nameInMail } from '../../accounts/emails/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { AlertRow } from './anomalies.repo.ts';
import {
  type ChannelRow,
  insertMessages,
  listChannelRows,
  type MessageRow,
  updateChannel,
} from './channels.repo.ts';
import { type Account, ASKING, bodyOf, type KeptConfig, signedHeaders } from './channels.rules.ts';
import type { ChannelSeals } from './channels.ts';
import { askRecipient } from './recipients.ts';

export const messageRates = rateRules({
  anomalyDaily: {
    perDay: 500,
    describes: 'mails and messages to Slack about anomalies, by account in a day (UTC)',
    counts: [{ by: 'developer' }],
  },
});

interface Announcing {
  /** The channels that the alert's rule names. */
  readonly channelsOf: (alert: AlertRow) => readonly string[];
  readonly at: Date;
}

/** Puts a message for each new alert and channel on its way, in the transaction that creates the alerts. */
export async function announceToChannels(
  tx: Tx,
  tenant: Tenant,
  alerts: readonly AlertRow[],
  { channelsOf, at }: Announcing,
): Promise<void> {
  const channels = (await listChannelRows(tx, tenant)).filter(({ enabled }) => enabled);
  if (channels.length === 0 || alerts.length === 0) return;
  const account = { ...tenant, developerName: await findDeveloperName(tx, tenant) };
  const messages = alerts.flatMap((alert) => {
    const named = channelsOf(alert);
    return channels
      .filter(({ severities }) => severities.includes(alert.severity))
      .filter(({ id, name }) => named.length === 0 || named.includes(id) || named.includes(name))
      .map((channel) => messageOf(channel, account, alert, at));
  });
  if (messages.length > 0) await insertMessages(tx, tenant, messages);
}

function messageOf({ id: channelId, type }: ChannelRow, account: Account, alert: AlertRow, at: Date) {
  const id = newId('amsg', at);
  const { id: alertId, ruleId, ruleName, severity, agentId, principalId, grantId, description } = alert;
  const told = { alertId, ruleId, ruleName, severity, agentId, principalId, grantId, description };
  const body = bodyOf(type, id, account, { ...told, detectedAt: alert.detectedAt.toISOString() });
  return { id, channelId, body, nextAttemptAt: at };
}

export interface SendDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly egress: Pick<Egress, 'send'>;
  readonly seals: ChannelSeals;
  readonly publicBaseUrl: string;
  readonly mailer?: Mailer;
  readonly chargeRecipient: ChargeRecipient;
  readonly onFailure: (error: unknown) => void;
}

/** Makes one attempt at the messages that are due. @returns how many were due */
export const sendMessages = (deps: SendDeps): Promise<number> =>
  sendDue<MessageRow>(deps, {
    table: 'anomaly_messages',
    backOff: { maxAttempts: 5, firstSeconds: 30, factor: 2 },
    send: (message) => send(deps, message),
  });

async function send(deps: SendDeps, message: MessageRow): Promise<SendResult> {
  const { id, body, channelId } = message;
  const channel = (await listChannelRows(deps.db, message)).find((each) => each.id === channelId);
  if (!channel?.enabled) return { result: 'gone' };
  const config = deps.seals.open(channel);
  if (!config) throw new Error(`The configuration of ${channel.id} opens under no configured key.`);
  if (config.to) return { result: (await mailToAll(deps, channel, config, body)) ? 'delivered' : 'failed' };
  const { secret, url = config.webhookUrl ?? '' } = config;
  if (channel.type === 'slack') {
    const wait = await secondsUntilRoom(deps.chargeRecipient, [messageRates.anomalyDaily], url, channel);
    if (wait !== undefined) return { result: 'failed', retryAfter: String(wait) };
  }
  const headers = secret === undefined ? {} : signedHeaders(id, secret, body, deps.clock());
  const sent = await postJson(deps.egress, url, body, headers);
  if (sent.result === 'gone') await disableGone(deps, channel);
  return sent;
}

/** A receiver that answers 410 asks for nothing more. */
function disableGone({ db, clock }: SendDeps, { id: channelId, ...tenant }: ChannelRow): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const parts = await findCallerParts(tx, tenant);
    if (!parts || !(await updateChannel(tx, tenant, channelId, { enabled: false }))) return;
    const act = { type: 'anomaly.channel_disabled', data: { channelId, reason: 'gone' } } as const;
    await recordActs(tx, systemCaller(tenant, parts, 'deliveries'), [act], at);
  });
}

/**
 * Another attempt goes to all addresses again, which costs a reader less than no message.
 * @returns whether all mails went out
 */
async function mailToAll(
  deps: SendDeps,
  channel: ChannelRow,
  { to = [], asked = {}, confirmed = [] }: KeptConfig,
  text: string,
): Promise<boolean> {
  const { mailer, chargeRecipient, onFailure } = deps;
  if (!mailer) return false;
  const account = nameInMail(await findDeveloperName(deps.db, channel), channel.developerId);
  let isWhole = true;
  for (const address of to) {
    try {
      if (!confirmed.includes(address)) {
        if (!asked[address]?.isSent) await askRecipient(deps, mailer, channel, address);
        continue;
      }
      if (text === ASKING) continue;
      await chargeRecipient([mailRates.mailRecipient, messageRates.anomalyDaily], address, channel);
      await mailer.send({ to: address, subject: 'An agent behaves unusually', text, account });
    } catch (error) {
      onFailure(error);
      isWhole = false;
    }
  }
  return isWhole;
}
