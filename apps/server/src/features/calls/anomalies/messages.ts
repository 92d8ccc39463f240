import { systemCaller, type Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { retryAt } from '../../../platform/egress/retry-after.ts';
import { AppError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { ChargeRecipient } from '../../../platform/mail/charge-recipient.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { findCallerParts, findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { rates as mailRates } from '../../accounts/emails/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { AlertRow } from './alerts.repo.ts';
import { rates } from './anomalies.rates.ts';
import {
  type ChannelRow,
  claimMessage,
  deleteMessage,
  insertMessages,
  listChannelRows,
  listDueMessagesAcrossTenants,
  type MessageRow,
  postponeMessage,
  updateChannel,
} from './channels.repo.ts';
import {
  type Account,
  ASKING,
  bodyOf,
  type KeptConfig,
  nextAttempt,
  signedHeaders,
} from './channels.rules.ts';
import { askRecipient } from './recipients.ts';
import type { ChannelSeals } from './seals.ts';

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

const AT_ONCE = { each: 4, all: 20 }; // messages
const LEASE = 60_000; // milliseconds

/** Makes one attempt at the messages that are due. @returns how many were due */
export async function sendMessages(deps: SendDeps): Promise<number> {
  const at = deps.clock();
  const due = await listDueMessagesAcrossTenants(deps.db, at, AT_ONCE);
  const attempts = due.map((message) => attempt(deps, message, at).catch(deps.onFailure));
  await Promise.all(attempts);
  return due.length;
}

async function attempt(deps: SendDeps, message: MessageRow, at: Date): Promise<void> {
  const { db, clock } = deps;
  const channel = await claimMessage(db, message, message, new Date(at.getTime() + LEASE));
  if (!channel) return;
  if (!channel.enabled) return deleteMessage(db, message, message.id);
  const sent = await send(deps, message, channel);
  if (sent.isGone) await disableGone(deps, channel);
  if (sent.isDone || sent.isGone) return deleteMessage(db, message, message.id);
  const attempts = message.attempts + 1;
  const stated = nextAttempt(attempts, clock());
  if (!stated) return deleteMessage(db, message, message.id);
  const until = retryAt(stated, sent.retryAfter, clock());
  await postponeMessage(db, message, message.id, { attempts, until });
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

interface Sent {
  readonly isDone: boolean;
  readonly isGone?: boolean;
  readonly retryAfter?: string | undefined;
}

async function send(deps: SendDeps, { id, body }: MessageRow, channel: ChannelRow): Promise<Sent> {
  const config = deps.seals.open(channel);
  if (!config) throw new Error(`The configuration of ${channel.id} opens under no configured key.`);
  if (config.to) return { isDone: await isMailed(deps, channel, config, body) };
  const url = config.url ?? config.webhookUrl ?? '';
  const refusal = channel.type === 'slack' && (await refusalOf(deps, channel, url));
  if (refusal) return { isDone: false, retryAfter: refusal };
  const { secret } = config;
  const outcome = await deps.egress.send({
    url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Service-Webhooks/0.1',
      ...(secret !== undefined && signedHeaders(id, secret, body, deps.clock())),
    },
    body,
  });
  const { status = 0 } = outcome;
  const retryAfter = outcome.status === undefined ? undefined : outcome.retryAfter;
  return { isDone: status >= 200 && status < 300, isGone: status === 410, retryAfter };
}

/** Counts a message to Slack. @returns after how many seconds the account has room for another, if not now */
async function refusalOf({ chargeRecipient }: SendDeps, tenant: Tenant, url: string) {
  try {
    await chargeRecipient([rates.anomalyDaily], url, tenant);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'RATE_LIMITED') throw error;
    return String(Object(error.details).retryAfter);
  }
}

/** Another attempt goes to all addresses again, which costs a reader less than no message. */
async function isMailed(
  deps: SendDeps,
  channel: ChannelRow,
  { to = [], asked = {}, confirmed = [] }: KeptConfig,
  text: string,
): Promise<boolean> {
  const { mailer, chargeRecipient, onFailure } = deps;
  if (!mailer) return false;
  let isWhole = true;
  for (const address of to) {
    try {
      if (!confirmed.includes(address)) {
        if (!asked[address]?.isSent) await askRecipient(deps, mailer, channel, address);
        continue;
      }
      if (text === ASKING) continue;
      await chargeRecipient([mailRates.mailRecipient, rates.anomalyDaily], address, channel);
      await mailer.send({ to: address, subject: 'An agent behaves unusually', text });
    } catch (error) {
      onFailure(error);
      isWhole = false;
    }
  }
  return isWhole;
}
