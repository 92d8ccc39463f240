import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { isPrincipalActive } from '../../../platform/db/principals.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { lockOpenAccount } from '../../accounts/developers/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { type ApproverRow, listAllApprovers, NO_LINK, updateApprover } from './approvers.repo.ts';
import { INVITE_MS, isActiveAt } from './approvers.rules.ts';
import type { Approver } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { confirmationMail, mailQuietly } from './mail.ts';
import { getApprover } from './manage.ts';
import { approverIn } from './session.ts';
import { toApprover } from './show.ts';

/** Whether the account has an approver who confirms people. */
export const hasConfirmer = (all: readonly ApproverRow[], at: Date): boolean =>
  all.some((row) => row.kind === 'person' && isActiveAt(row, at));

/** Mails a principal who has enrolled a link by which they confirm that they did. */
export async function askForConfirmation(deps: ApproverDeps, tx: Tx, row: ApproverRow): Promise<void> {
  const at = deps.clock();
  const secret = newSecret();
  const inviteExpiresAt = new Date(at.getTime() + INVITE_MS);
  await updateApprover(tx, row, row.id, { inviteHash: hashOf(secret), inviteExpiresAt });
  const { developerId, email } = row;
  const link = `${deps.publicBaseUrl}/approve#confirm=${secret}`;
  const mail = confirmationMail({ developerName: await findDeveloperName(tx, row), developerId, link });
  await afterCommit(tx, () => mailQuietly(deps, row, { to: email, ...mail }));
}

/**
 * Confirms the principal who is signed in, by the mailed link. Where an approver of the account can confirm people, a
 * mailbox is not enough: an API key can write the address in the directory.
 * @throws NOT_FOUND for a link that is used, expired or somebody else's; FORBIDDEN where an approver has to confirm
 */
export function confirmSelf(deps: ApproverDeps, caller: Caller, confirmation: string): Promise<Approver> {
  const at = deps.clock();
  const { tenant } = caller;
  const { approverId } = approverIn(caller);
  return inTransaction(deps.db, async (tx) => {
    await lockOpenAccount(tx, tenant);
    const row = await getApprover(tx, tenant, approverId);
    const { status, principalId, inviteHash, inviteExpiresAt } = row;
    const isWaiting = status === 'pending_confirmation' && principalId !== null;
    const isGood =
      inviteHash?.equals(hashOf(confirmation)) && inviteExpiresAt !== null && at < inviteExpiresAt;
    if (!isWaiting || !isGood || !(await isPrincipalActive(tx, tenant, principalId))) throw unusable();
    if (hasConfirmer(await listAllApprovers(tx, tenant), at)) throw approverNeeded();
    const change = { ...NO_LINK, status: 'active', confirmedBy: caller.actor } as const;
    const confirmed = await updateApprover(tx, tenant, approverId, change);
    const data = { approverId, confirmedBy: approverId };
    await recordActs(tx, caller, [{ type: 'approver.confirmed', data }], at);
    return toApprover(confirmed);
  });
}

const unusable = () =>
  new AppError('NOT_FOUND', 'This link was used, has expired, or is that of another person.');

const approverNeeded = () =>
  new AppError('FORBIDDEN', 'An approver of the account has to confirm you.', {
    sub_reason: 'approver_needed',
  });
