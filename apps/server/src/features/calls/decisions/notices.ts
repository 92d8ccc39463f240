import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { newId } from '../../../platform/ids.ts';
import { findAgentNames } from '../../accounts/agents/agents.queries.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { listAllApprovers } from '../approvers/approvers.queries.ts';
import type { DecisionRow } from './decisions.repo.ts';
import type { DecisionsDeps } from './deps.ts';
import { mailOf, messageOf, type Occasion } from './messages.ts';
import { deleteNotices, insertNotices, listChannelRows } from './notices.repo.ts';
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
