import { type Caller, systemCaller, type Tenant } from '../../../platform/caller.ts';
import { secondsUntilRoom } from '../../../platform/charge.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { newId } from '../../../platform/ids.ts';
import { nextAttemptAt, postJson, type SendResult } from '../../../platform/outbound/attempts.ts';
import { LEASE_MS, sendDue } from '../../../platform/outbound/queue.ts';
import { findAgentNames } from '../../accounts/agents/agents.queries.ts';
import { findCallerParts, findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { findApprover, listAllApprovers } from '../approvers/index.ts';
import type { DecisionsDeps } from './decisions.acts.ts';
import type { DecisionRow } from './decisions.repo.ts';
import { digestOf, mailOf, messageOf, type Occasion } from './messages.ts';
import {
  type ChannelRow,
  claimGathered,
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
  const people = all.filter(
    ({ row: { id, emailVerified } }) => mailer !== undefined && emailVerified && id !== except,
  );
  const names = await findAgentNames(tx, tenant, [row.agentId]);
  const told = {
    ...{ occasion, status: row.status, connector: row.connector, tool: row.tool, caseId: row.caseId },
    ...{ developerName: await findDeveloperName(tx, tenant), developerId: tenant.developerId },
    ...{ agentName: names.get(row.agentId) ?? '', agentId: row.agentId, expiresAt: row.expiresAt },
    url: `${publicBaseUrl}/approve#decision=${row.id}`,
  };
  const shared = { decisionId: row.id, attempts: 0, nextAttemptAt: at };
  const { subject, text } = mailOf(told);
  await insertNotices(tx, tenant, [
    ...people.map(({ row: { id: approverId } }) => ({
      ...shared,
      id: newId('dntc', at),
      approverId,
      channelId: null,
      subject,
      body: text,
    })),
    ...(await listChannelRows(tx, tenant)).map(({ id: channelId, kind }) => ({
      ...{
        ...shared,
        id: newId('dntc', at),
        approverId: null,
        channelId,
        subject,
        body: messageOf(kind, told),
      },
    })),
  ]);
}

export const rates = rateRules({
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

export interface SendDeps extends Pick<DecisionsDeps, 'clock' | 'mailer' | 'chargeRecipient' | 'seals'> {
  readonly db: Executor;
  readonly egress: Pick<Egress, 'send'>;
  readonly onFailure: (error: unknown) => void;
}

const BACK_OFF = { maxAttempts: 5, firstSeconds: 30, factor: 4 };

/** Makes one attempt at the notices and digests that are due. @returns how many were due */
export async function sendNotices(deps: SendDeps): Promise<number> {
  const notices = await sendDue<NoticeRow>(deps, {
    table: 'decision_notices',
    skips: 'is_gathered',
    backOff: BACK_OFF,
    send: (notice) =>
      notice.approverId === null ? post(deps, notice) : mail(deps, notice, notice.approverId),
  });
  return notices + (await sendDigests(deps));
}

async function post(deps: SendDeps, notice: NoticeRow): Promise<SendResult> {
  const channel = (await listChannelRows(deps.db, notice)).find(({ id }) => id === notice.channelId);
  const url = channel && deps.seals.open(channel);
  if (!channel || url === undefined) return { result: 'gone' };
  const wait = await secondsUntilRoom(deps.chargeRecipient, [rates.decisionDaily], url, notice);
  if (wait !== undefined) return { result: 'failed', retryAfter: String(wait) };
  const sent = await postJson(deps.egress, url, notice.body);
  if (sent.result === 'gone') await removeGone(deps, channel);
  return sent;
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
  const room = await roomAt(deps, row.email, tenant);
  if (room !== undefined) {
    const until = (await gatheredUntil(deps.db, tenant, approverId, deps.clock())) ?? room;
    await gather(deps.db, tenant, [notice.id], until);
    return { result: 'rescheduled' };
  }
  await deps.mailer.send({ to: row.email, subject, text });
  return { result: 'delivered' };
}

/** Counts a mail. @returns when the next one may be sent, if not now */
async function roomAt({ chargeRecipient, clock }: SendDeps, email: string, tenant: Tenant) {
  const limits = [rates.decisionMail, rates.decisionDaily];
  const seconds = await secondsUntilRoom(chargeRecipient, limits, email, tenant);
  return seconds === undefined ? undefined : new Date(clock().getTime() + seconds * 1000);
}

const DIGESTS_AT_ONCE = 20;

async function sendDigests(deps: SendDeps): Promise<number> {
  const due = await listDueDigestsAcrossTenants(deps.db, deps.clock(), DIGESTS_AT_ONCE);
  await Promise.all(due.map((digest) => sendDigest(deps, digest).catch(deps.onFailure)));
  return due.length;
}

/** Sends all that waits for an approver as one mail. A process that dies on the way leaves it to another. */
async function sendDigest(
  deps: SendDeps,
  { approverId, attempts: made, ...tenant }: Pick<NoticeRow, 'developerId' | 'approverId' | 'attempts'>,
): Promise<void> {
  const { db, clock, mailer } = deps;
  const [at, attempts] = [clock(), made + 1];
  const until = nextAttemptAt(BACK_OFF, attempts, at) ?? new Date(at.getTime() + LEASE_MS);
  const notices = await claimGathered(db, tenant, approverId ?? '', at, until);
  if (notices.length === 0) return;
  const ids = notices.map(({ id }) => id);
  const row = await findApprover(db, tenant, approverId ?? '');
  if (mailer && attempts <= BACK_OFF.maxAttempts && row?.status === 'active') {
    const room = await roomAt(deps, row.email, tenant);
    if (room !== undefined) return gather(db, tenant, ids, room);
    await mailer.send({ to: row.email, ...digestOf(notices) });
  }
  await deleteGathered(db, tenant, ids);
}
