import { type Caller, systemCaller, type Tenant } from '../../../platform/caller.ts';
import { secondsUntilRoom } from '../../../platform/charge.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { type RateRule, rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { newId } from '../../../platform/ids.ts';
import { nextAttemptAt, postJson, type SendResult } from '../../../platform/outbound/attempts.ts';
import { LEASE_MS, sendDue } from '../../../platform/outbound/queue.ts';
import { findAgentNames } from '../../accounts/agents/agents.queries.ts';
import { findCallerParts, findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { nameInMail } from '../../accounts/emails/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  endSubscription,
  findApprover,
  listAllApprovers,
  listSubscriptionRows,
  type OpenSubscription,
  openSubscription,
  sendPush,
  type WebPush,
} from '../approvers/index.ts';
import type { DecisionsDeps } from './decisions.acts.ts';
import type { DecisionRow } from './decisions.repo.ts';
import {
  digestOf,
  type Flood,
  floodMessageOf,
  floodPushOf,
  headlineParts,
  mailOf,
  messageOf,
  type Occasion,
  pushOf,
} from './messages.ts';
import {
  type ChannelRow,
  claimGathered,
  countOpen,
  type DueDigest,
  deleteChannel,
  deleteGathered,
  deleteNotices,
  gather,
  gatheredUntil,
  insertNotices,
  listChannelRows,
  listDueDigestsAcrossTenants,
  type NoticeRow,
} from './notices.repo.ts';
import { type Eligible, eligibleOf } from './routing.ts';

type NoticeDeps = Pick<DecisionsDeps, 'clock' | 'mailer' | 'publicBaseUrl'>;

interface Notice {
  readonly what: Occasion;
  readonly eligible?: readonly Eligible[];
  /** People who have answered. */
  readonly except?: string | undefined;
}

/**
 * Puts notices about a request on their way, in the transaction that makes them true. Those about its former state go.
 * The end of a request is announced only after a reminder.
 */
export async function noticesOf(
  { clock, mailer, publicBaseUrl }: NoticeDeps,
  tx: Tx,
  { tenant }: Pick<Caller, 'tenant'>,
  row: DecisionRow,
  { what: occasion, eligible, except }: Notice,
): Promise<void> {
  const at = clock();
  if (occasion === 'ended') {
    await deleteNotices(tx, tenant, row.id);
    if (row.reminders === 0) return;
  }
  const all = eligible ?? eligibleOf(await listAllApprovers(tx, tenant), row.routed, at);
  const others = all.filter(({ row: { id } }) => id !== except);
  const people = others.filter(({ row: { emailVerified } }) => mailer !== undefined && emailVerified);
  const channels = await listChannelRows(tx, tenant);
  const ids = others.map(({ row: { id } }) => id);
  const browsers = await listSubscriptionRows(tx, tenant, ids);
  if (people.length + channels.length + browsers.length === 0) return;
  const names = await findAgentNames(tx, tenant, [row.agentId]);
  const told = {
    ...(await headlineParts(tx, row)),
    ...{ occasion, status: row.status, connector: row.connector, tool: row.tool, caseId: row.caseId },
    ...{ developerName: await findDeveloperName(tx, tenant), developerId: tenant.developerId },
    ...{ agentName: names.get(row.agentId) ?? '', agentId: row.agentId, expiresAt: row.expiresAt },
    url: `${publicBaseUrl}/approve#decision=${row.id}`,
  };
  const { subject, text } = mailOf(told);
  const to = { approverId: null, channelId: null, subscriptionId: null };
  const shared = { ...to, decisionId: row.id, subject, attempts: 0, nextAttemptAt: at };
  const push = pushOf(told);
  await insertNotices(
    tx,
    tenant,
    [
      ...people.map(({ row: { id: approverId } }) => ({ ...shared, approverId, body: text })),
      ...channels.map(({ id: channelId, kind }) => ({ ...shared, channelId, body: messageOf(kind, told) })),
      ...browsers.map(({ id: subscriptionId }) => ({ ...shared, subscriptionId, body: push })),
    ].map((notice) => ({ ...notice, id: newId('dntc', at) })),
  );
}

export const rates = rateRules({
  decisionBurst: {
    perMinute: 3,
    describes: 'mails and messages about decisions, by recipient in a minute; further ones become one',
    counts: [{ by: 'recipient' }],
  },
  decisionMail: {
    perHour: 20,
    describes: 'mails about decisions, by recipient',
    counts: [{ by: 'recipient' }],
  },
  decisionDaily: {
    perDay: 5000,
    describes: 'mails and messages of channels about decisions, by account in a day (UTC)',
    counts: [{ by: 'developer' }],
  },
});

export interface SendDeps
  extends Pick<DecisionsDeps, 'clock' | 'mailer' | 'publicBaseUrl' | 'chargeRecipient' | 'seals'> {
  readonly db: Executor;
  readonly egress: Pick<Egress, 'send'>;
  readonly push: WebPush;
  readonly onFailure: (error: unknown) => void;
}

const BACK_OFF = { maxAttempts: 5, firstSeconds: 30, factor: 4 };

/** Makes one attempt at the notices and digests that are due. @returns how many were due */
export async function sendNotices(deps: SendDeps): Promise<number> {
  const notices = await sendDue<NoticeRow>(deps, {
    table: 'decision_notices',
    skips: 'is_gathered',
    backOff: BACK_OFF,
    send(notice) {
      if (notice.approverId !== null) return mail(deps, notice, notice.approverId);
      return notice.channelId === null ? push(deps, notice) : post(deps, notice);
    },
  });
  return notices + (await sendDigests(deps));
}

/** Posts a notice to a channel, or lets it wait for a digest. */
async function post(deps: SendDeps, notice: NoticeRow): Promise<SendResult> {
  const channel = await openChannel(deps, notice);
  if (!channel) return { result: 'gone' };
  const room = await roomAt(deps, OF_CHANNELS, channel.url, notice);
  return room === undefined ? postTo(deps, channel, notice.body) : letWait(deps, notice, room);
}

interface OpenChannel {
  readonly row: ChannelRow;
  readonly url: string;
}

async function openChannel(
  { db, seals }: SendDeps,
  { channelId, developerId }: Pick<NoticeRow, 'channelId' | 'developerId'>,
): Promise<OpenChannel | undefined> {
  const row = (await listChannelRows(db, { developerId })).find(({ id }) => id === channelId);
  const url = row && seals.open(row);
  return row && url !== undefined ? { row, url } : undefined;
}

async function postTo(deps: SendDeps, { row, url }: OpenChannel, body: string): Promise<SendResult> {
  const sent = await postJson(deps.egress, url, body);
  if (sent.result === 'gone') await removeGone(deps, row);
  return sent;
}

/** Sends a notice to a browser, or lets it wait for a digest. */
async function push(deps: SendDeps, notice: NoticeRow): Promise<SendResult> {
  const browser = await openBrowser(deps, notice);
  if (!browser) return { result: 'gone' };
  const room = await roomAt(deps, OF_CHANNELS, browser.to.endpoint, notice);
  return room === undefined
    ? pushTo(deps, browser, notice.body, notice.decisionId)
    : letWait(deps, notice, room);
}

/** A person who is suspended hears of nothing. */
async function openBrowser(
  deps: SendDeps,
  notice: Pick<NoticeRow, 'subscriptionId' | 'developerId'>,
): Promise<OpenSubscription | undefined> {
  const browser = await openSubscription(deps, notice, notice.subscriptionId ?? '');
  const person = browser && (await findApprover(deps.db, notice, browser.row.approverId));
  return person?.status === 'active' ? browser : undefined;
}

async function pushTo(
  deps: SendDeps,
  { row, to, key }: OpenSubscription,
  text: string,
  topic: string,
): Promise<SendResult> {
  const { publicBaseUrl, clock } = deps;
  const sent = await sendPush(deps.egress, { to, key, text, topic, publicBaseUrl, at: clock() });
  if (sent.result === 'gone') await endSubscription(deps, row);
  return sent;
}

/** All that wait for one recipient have one time of sending. */
async function letWait({ db, clock }: SendDeps, notice: NoticeRow, room: Date): Promise<SendResult> {
  const until = (await gatheredUntil(db, notice, notice, clock())) ?? room;
  await gather(db, notice, [notice.id], { until, attempts: 0 });
  return { result: 'rescheduled' };
}

/** A receiver that answers 410 asks for nothing more. */
function removeGone({ db, clock }: SendDeps, { id: channelId, developerId }: ChannelRow): Promise<void> {
  const tenant = { developerId };
  return inTransaction(db, async (tx) => {
    const parts = await findCallerParts(tx, tenant);
    if (!parts || !(await deleteChannel(tx, tenant, channelId))) return;
    const act = { type: 'decision.channel_removed', data: { channelId, reason: 'gone' } } as const;
    await recordActs(tx, systemCaller(tenant, parts, 'deliveries'), [act], clock());
  });
}

/** Mails a notice, or lets it wait for a digest. */
async function mail(deps: SendDeps, notice: NoticeRow, approverId: string): Promise<SendResult> {
  const { subject, body: text, ...tenant } = notice;
  const row = await findApprover(deps.db, tenant, approverId);
  if (!deps.mailer || row?.status !== 'active') return { result: 'gone' };
  const room = await roomAt(deps, OF_MAILS, row.email, tenant);
  if (room !== undefined) return letWait(deps, notice, room);
  await deps.mailer.send({ to: row.email, subject, text, account: await accountInMail(deps, tenant) });
  return { result: 'delivered' };
}

const accountInMail = async ({ db }: SendDeps, tenant: Tenant) =>
  nameInMail(await findDeveloperName(db, tenant), tenant.developerId);

const OF_MAILS = [rates.decisionBurst, rates.decisionMail, rates.decisionDaily];
const OF_CHANNELS = [rates.decisionBurst, rates.decisionDaily];

/** Counts a mail or message. @returns when the next one may be sent, if not now */
async function roomAt(
  { chargeRecipient, clock }: SendDeps,
  rules: readonly RateRule[],
  recipient: string,
  tenant: Tenant,
): Promise<Date | undefined> {
  const seconds = await secondsUntilRoom(chargeRecipient, rules, recipient, tenant);
  return seconds === undefined ? undefined : new Date(clock().getTime() + seconds * 1000);
}

async function sendDigests(deps: SendDeps): Promise<number> {
  const due = await listDueDigestsAcrossTenants(deps.db, deps.clock());
  await Promise.all(due.map((digest) => sendDigest(deps, digest).catch(deps.onFailure)));
  return due.length;
}

/** Sends all that waits for a recipient as one. A process that dies on the way leaves it to another. */
async function sendDigest(deps: SendDeps, due: DueDigest): Promise<void> {
  const { db, clock, publicBaseUrl } = deps;
  const [at, attempts] = [clock(), due.attempts + 1];
  const until = nextAttemptAt(BACK_OFF, attempts, at) ?? new Date(at.getTime() + LEASE_MS);
  const notices = await claimGathered(db, due, due, at, until);
  if (notices.length === 0) return;
  const ids = notices.map(({ id }) => id);
  if (attempts <= BACK_OFF.maxAttempts) {
    const waiting = await countOpen(
      db,
      due,
      notices.map(({ decisionId }) => decisionId),
      at,
    );
    const flood = { waiting, url: `${publicBaseUrl}/approve` };
    const room = await digestSender(due)(deps, due, { notices, flood });
    if (room === 'later') return;
    if (room !== undefined) return gather(db, due, ids, { until: room, attempts: due.attempts });
  }
  await deleteGathered(db, due, ids);
}

function digestSender({ approverId, channelId }: DueDigest) {
  if (approverId !== null) return mailDigest;
  return channelId === null ? pushDigest : postDigest;
}

interface Digest {
  readonly notices: readonly NoticeRow[];
  readonly flood: Flood;
}

/** @returns when there is room, if not now */
async function mailDigest(deps: SendDeps, due: DueDigest, { notices, flood }: Digest) {
  const row = await findApprover(deps.db, due, due.approverId ?? '');
  if (!deps.mailer || row?.status !== 'active') return undefined;
  const room = await roomAt(deps, OF_MAILS, row.email, due);
  if (room !== undefined) return room;
  const account = await accountInMail(deps, due);
  await deps.mailer.send({ to: row.email, ...digestOf(notices, flood), account });
  return undefined;
}

/** @returns when there is room, if not now, or `later` after a failure */
async function postDigest(deps: SendDeps, due: DueDigest, { notices, flood }: Digest) {
  const channel = await openChannel(deps, due);
  if (!channel) return undefined;
  const room = await roomAt(deps, OF_CHANNELS, channel.url, due);
  if (room !== undefined) return room;
  const [only, ...others] = notices;
  const body = only && others.length === 0 ? only.body : floodMessageOf(channel.row.kind, flood);
  const { result } = await postTo(deps, channel, body);
  return result === 'failed' ? 'later' : undefined;
}

/** @returns when there is room, if not now, or `later` after a failure */
async function pushDigest(deps: SendDeps, due: DueDigest, { notices, flood }: Digest) {
  const browser = await openBrowser(deps, due);
  if (!browser) return undefined;
  const room = await roomAt(deps, OF_CHANNELS, browser.to.endpoint, due);
  if (room !== undefined) return room;
  const [only, ...others] = notices;
  const isOne = only !== undefined && others.length === 0;
  const [text, topic] = isOne ? [only.body, only.decisionId] : [floodPushOf(flood), 'calls'];
  const { result } = await pushTo(deps, browser, text, topic);
  return result === 'failed' ? 'later' : undefined;
}
