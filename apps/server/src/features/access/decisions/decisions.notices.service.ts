import type { Caller } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { newId } from '../../../platform/ids.ts';
import { findAgentNames } from '../../accounts/agents/agents.queries.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { findApprover, listAllApprovers } from '../../people/approvers/approvers.queries.ts';
import type { DecisionsDeps } from './decisions.deps.service.ts';
import { mailOf, messageOf, nextAttempt, type Occasion } from './decisions.messages.service.ts';
import {
  claimNotice,
  deleteNotice,
  deleteNotices,
  insertNotices,
  listChannelRows,
  listDueNoticesAcrossTenants,
  type NoticeRow,
} from './decisions.notices.repo.ts';
import { rates } from './decisions.rates.ts';
import type { DecisionRow } from './decisions.repo.ts';
import { type Eligible, eligibleOf } from './decisions.routing.service.ts';

type NoticeDeps = Pick<DecisionsDeps, 'clock' | 'mailer' | 'publicBaseUrl'>;

interface Notice {
  readonly what: Occasion;
  readonly eligible?: readonly Eligible[];
  /** People who have answered. */
  readonly except?: string | undefined;
}

/**
 * Puts notices about a request on their way, in the transaction that makes them true. Those about its former state go.
 * The end of a request is told only where a reminder was sent.
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
  const attempts = notice.attempts + 1;
  const until = nextAttempt(attempts, deps.clock());
  if (!until) return deleteNotice(deps.db, notice, notice.id);
  if (!(await claimNotice(deps.db, notice, notice, { nextAttemptAt: until, attempts }))) return;
  if (await isSent(deps, notice)) await deleteNotice(deps.db, notice, notice.id);
}

/** @returns whether the receiver has the notice */
async function isSent(deps: SendDeps, notice: NoticeRow): Promise<boolean> {
  if (notice.approverId !== null) return isMailed(deps, notice, notice.approverId);
  const channel = (await listChannelRows(deps.db, notice)).find(({ id }) => id === notice.channelId);
  const url = channel && deps.seals.open(channel);
  if (url === undefined) return true; // nobody is left to be told
  const headers = { 'content-type': 'application/json', 'user-agent': 'Service-Webhooks/0.1' };
  const { status = 0 } = await deps.egress.send({ url, method: 'POST', headers, body: notice.body });
  return status >= 200 && status < 300;
}

async function isMailed(deps: SendDeps, { subject, body: text, ...tenant }: NoticeRow, approverId: string) {
  const row = await findApprover(deps.db, tenant, approverId);
  if (!deps.mailer || row?.status !== 'active') return true;
  await deps.chargeRecipient(rates.decisionMail, row.email);
  await deps.mailer.send({ to: row.email, subject, text });
  return true;
}
