import { systemCaller, type Tenant } from '../../../platform/caller.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { retryAt } from '../../../platform/egress/retry-after.ts';
import { AppError } from '../../../platform/errors.ts';
import type { RateRule } from '../../../platform/http/limits/rate-rules.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { findApprover } from '../approvers/approvers.queries.ts';
import { rates } from './decisions.rates.ts';
import type { DecisionsDeps } from './deps.ts';
import { claimGathered, gatheredUntil, gatherNotice, regather } from './digest.repo.ts';
import { digestOf, nextAttempt } from './messages.ts';
import {
  type ChannelRow,
  claimNotice,
  deleteChannel,
  deleteNotice,
  listChannelRows,
  listDueNoticesAcrossTenants,
  type NoticeRow,
} from './notices.repo.ts';

export interface SendDeps extends Pick<DecisionsDeps, 'clock' | 'mailer' | 'chargeRecipient' | 'seals'> {
  readonly db: Executor;
  readonly egress: Pick<Egress, 'send'>;
  readonly onFailure: (error: unknown) => void;
}

const AT_ONCE = 20;

/** Makes one attempt at the notices that are due. @returns how many were due */
export async function sendNotices(deps: SendDeps): Promise<number> {
  const due = await listDueNoticesAcrossTenants(deps.db, deps.clock(), AT_ONCE);
  await Promise.all(due.map((notice) => attempt(deps, notice).catch(deps.onFailure)));
  return due.length;
}

/** A claimed notice comes again by itself, so that a process which dies loses none. */
async function attempt(deps: SendDeps, notice: NoticeRow): Promise<void> {
  if (notice.isGathered) return sendDigest(deps, notice);
  const attempts = notice.attempts + 1;
  const until = nextAttempt(attempts, deps.clock());
  if (!until) return deleteNotice(deps.db, notice, notice.id);
  if (!(await claimNotice(deps.db, notice, notice, { nextAttemptAt: until, attempts }))) return;
  const isDone =
    notice.approverId === null
      ? await isPosted(deps, notice, until)
      : await isMailed(deps, notice, notice.approverId);
  if (isDone) await deleteNotice(deps.db, notice, notice.id);
}

/** @returns whether nothing is left to be done: the receiver has the notice, or there is none */
async function isPosted(deps: SendDeps, notice: NoticeRow, until: Date): Promise<boolean> {
  const channel = (await listChannelRows(deps.db, notice)).find(({ id }) => id === notice.channelId);
  const url = channel && deps.seals.open(channel);
  if (!channel || url === undefined) return true; // nobody is left to be told
  if (await waitFor(deps, [rates.decisionDaily], url, notice)) return false;
  const headers = { 'content-type': 'application/json', 'user-agent': 'Service-Webhooks/0.1' };
  const outcome = await deps.egress.send({ url, method: 'POST', headers, body: notice.body });
  if (outcome.status === undefined) return false;
  if (outcome.status === 410) await removeGone(deps, channel);
  if (outcome.status === 410 || (outcome.status >= 200 && outcome.status < 300)) return true;
  const later = retryAt(until, outcome.retryAfter, deps.clock());
  const { attempts } = notice;
  if (later > until) {
    const turn = { id: notice.id, nextAttemptAt: until };
    await claimNotice(deps.db, notice, turn, { nextAttemptAt: later, attempts: attempts + 1 });
  }
  return false;
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

/** @returns whether nothing is left to be done for now: the mail is sent, gathered, or for nobody */
async function isMailed(deps: SendDeps, notice: NoticeRow, approverId: string): Promise<boolean> {
  const { subject, body: text, ...tenant } = notice;
  const row = await findApprover(deps.db, tenant, approverId);
  if (!deps.mailer || row?.status !== 'active') return true;
  const waits = await waitFor(deps, OF_MAILS, row.email, tenant);
  if (waits !== undefined) {
    const until = (await gatheredUntil(deps.db, tenant, approverId, deps.clock())) ?? waits;
    await gatherNotice(deps.db, tenant, notice.id, until);
    return false;
  }
  await deps.mailer.send({ to: row.email, subject, text });
  return true;
}

const OF_MAILS = [rates.decisionMail, rates.decisionDaily];

/** Counts a notice. @returns when the next one may be sent, if not now */
async function waitFor(
  { chargeRecipient, clock }: SendDeps,
  counted: readonly RateRule[],
  recipient: string,
  tenant: Tenant,
): Promise<Date | undefined> {
  try {
    await chargeRecipient(counted, recipient, tenant);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'RATE_LIMITED') throw error;
    return new Date(clock().getTime() + Number(Object(error.details).retryAfter) * 1000);
  }
}

/** Sends all that waits for an approver as one mail. A process that dies on the way leaves it to another. */
async function sendDigest(deps: SendDeps, { approverId, attempts, ...tenant }: NoticeRow): Promise<void> {
  const at = deps.clock();
  const until = nextAttempt(attempts + 1, at);
  const notices = await claimGathered(deps.db, tenant, approverId ?? '', at, until ?? at);
  const ids = notices.map(({ id }) => id);
  const row = await findApprover(deps.db, tenant, approverId ?? '');
  if (notices.length === 0) return;
  if (deps.mailer && until && row?.status === 'active') {
    const waits = await waitFor(deps, OF_MAILS, row.email, tenant);
    if (waits !== undefined) return regather(deps.db, tenant, ids, waits);
    await deps.mailer.send({ to: row.email, ...digestOf(notices) });
  }
  for (const id of ids) await deleteNotice(deps.db, tenant, id);
}
