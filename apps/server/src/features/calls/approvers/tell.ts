import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, type Tx } from '../../../platform/db/db.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { nameInMail } from '../../accounts/emails/index.ts';
import { type ApproverRow, findApprover } from './approvers.queries.ts';
import type { ApproverDeps } from './deps.ts';
import { changedMail, noticeQuietly } from './mail.ts';

/** Mails a person what somebody else has changed in their record: an API key can reroute what they decide. */
export async function tellOfChange(
  deps: ApproverDeps,
  tx: Tx,
  { approver }: Caller,
  before: ApproverRow,
  after: ApproverRow,
): Promise<void> {
  const { email, emailVerified } = after;
  if (!deps.mailer || !emailVerified || approver?.approverId === after.id) return;
  const [was, is] = [await linesOf(tx, before), await linesOf(tx, after)];
  const changes = is.filter((line) => !was.includes(line));
  if (changes.length === 0) return;
  const mail = changedMail({ ...after, developerName: await findDeveloperName(tx, after) }, changes);
  await afterCommit(tx, () => noticeQuietly(deps, after, { to: email, ...mail }));
}

async function linesOf(tx: Tx, row: ApproverRow): Promise<string[]> {
  const { deputyId } = row;
  return recordLines(row, deputyId === null ? undefined : await findApprover(tx, row, deputyId));
}

type Told = Pick<ApproverRow, 'groups' | 'connectors' | 'absentFrom' | 'absentUntil'>;

/** What a mail says of a record. An account chose the names in it. */
export function recordLines(
  { groups, connectors, absentFrom, absentUntil }: Told,
  deputy: Pick<ApproverRow, 'id' | 'displayName'> | undefined,
): string[] {
  const absence =
    absentFrom && absentUntil
      ? `from ${absentFrom.toISOString()} until ${absentUntil.toISOString()}`
      : 'none';
  return [
    `Your groups: ${listed(groups) || 'none'}`,
    `Calls of: ${connectors ? listed(connectors) : 'every connector'}`,
    `Your absence: ${absence}`,
    `Your deputy: ${deputy ? nameInMail(deputy.displayName, deputy.id) : 'nobody'}`,
  ];
}

const MOST_LISTED = 20;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_LISTED).map((name) => nameInMail(name, '–'));
  const more = names.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
