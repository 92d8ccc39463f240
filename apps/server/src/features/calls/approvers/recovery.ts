import type { Caller, OperatorCaller, Tenant } from '../../../platform/caller.ts';
import { afterCommit, type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { lockAccount } from '../../accounts/developers/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { recordForOperator } from '../../service/operator/index.ts';
import {
  type ApproverRow,
  findApprover,
  listAllApprovers,
  NO_LINK,
  updateApprover,
} from './approvers.repo.ts';
import { INVITE_MS, isActiveAt, RECOVERY_WAIT_MS } from './approvers.rules.ts';
import type { ApproverRecovery } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { noticeQuietly, recoveryMail, recoveryNotice } from './mail.ts';
import { getApprover } from './manage.ts';
import { approverIn } from './session.ts';

interface Wanted {
  readonly tenant: Tenant;
  readonly approverId: string;
}

/**
 * Lets an approver who has lost every passkey enrol once more, a day from now. The account and its approvers hear of it
 * at once, and any of its approvers can stop it.
 * @throws NOT_FOUND, CONFLICT for a person whom the developer can remove and invite again
 */
export function beginRecovery(
  deps: ApproverDeps,
  operator: OperatorCaller,
  { tenant, approverId }: Wanted,
): Promise<ApproverRecovery> {
  const at = deps.clock();
  const secret = newSecret();
  const recoveryFrom = new Date(at.getTime() + RECOVERY_WAIT_MS);
  const inviteExpiresAt = new Date(recoveryFrom.getTime() + INVITE_MS);
  const opensAt = recoveryFrom.toISOString();
  const { developerId } = tenant;
  const link = `${deps.publicBaseUrl}/approve#invite=${developerId}.${approverId}.${secret}`;

  return inTransaction(deps.db, async (tx) => {
    const caller = await callerFor(tx, operator, tenant);
    const account = await lockAccount(tx, tenant);
    if (!account) throw notFound();
    const row = await getApprover(tx, tenant, approverId);
    mustNeedOperator(row);
    const isMailed = deps.mailer !== undefined && row.emailVerified;
    await updateApprover(tx, tenant, approverId, {
      ...{ inviteHash: hashOf(secret), inviteMailed: isMailed, inviteExpiresAt, recoveryFrom },
    });
    const told = { developerName: account.name, developerId, name: row.displayName, opensAt, link };
    const others = (await listAllApprovers(tx, tenant)).filter((one) => one.id !== approverId);
    const active = others.filter(({ status }) => status === 'active');
    await mailAll(deps, tx, tenant, [account, ...active], recoveryNotice(told));
    await mailAll(deps, tx, tenant, [row], recoveryMail(told));
    const data = { approverId, recoveryFrom: opensAt };
    await recordActs(tx, caller, [{ type: 'approver.recovery_requested', data }], at);
    const act = { action: 'approver.recovery_requested', data: { developerId, ...data } };
    await recordForOperator(tx, operator, [act], at);
    return { approverId, link: isMailed ? null : link, opensAt, expiresAt: inviteExpiresAt.toISOString() };
  });
}

/** The operator acts on the account. @throws NOT_FOUND */
async function callerFor(
  db: Executor,
  { actor, requestId }: OperatorCaller,
  tenant: Tenant,
): Promise<Caller> {
  const parts = await findCallerParts(db, tenant);
  if (!parts) throw notFound();
  return { tenant, agentIds: null, actor, role: 'full', ...parts, requestId };
}

function mustNeedOperator({ kind, status }: ApproverRow): void {
  if (kind === 'person' && status === 'active') return;
  throw new AppError('CONFLICT', 'The developer can remove this approver and invite them again.', { status });
}

type Mailbox = Pick<ApproverRow, 'emailVerified'> & { readonly email: string | null };

async function mailAll(
  deps: ApproverDeps,
  tx: Tx,
  tenant: Tenant,
  to: readonly Mailbox[],
  mail: { readonly subject: string; readonly text: string },
): Promise<void> {
  if (!deps.mailer) return;
  for (const { email, emailVerified } of to) {
    if (emailVerified && email !== null)
      await afterCommit(tx, () => noticeQuietly(deps, tenant, { to: email, ...mail }));
  }
}

/** Any active approver stops a recovery, the person themself included. @throws NOT_FOUND, FORBIDDEN */
export function cancelRecovery(deps: ApproverDeps, caller: Caller, id: string): Promise<void> {
  const at = deps.clock();
  const { tenant } = caller;
  const { approverId: cancelledBy } = approverIn(caller);
  return inTransaction(deps.db, async (tx) => {
    const row = await getApprover(tx, tenant, id);
    if (row.recoveryFrom === null) throw notFound();
    const by = await findApprover(tx, tenant, cancelledBy);
    if (by?.kind !== 'person' || !isActiveAt(by, at)) {
      throw new AppError('FORBIDDEN', 'Only an active approver can stop this.');
    }
    await updateApprover(tx, tenant, id, NO_LINK);
    const data = { approverId: id, cancelledBy };
    await recordActs(tx, caller, [{ type: 'approver.recovery_cancelled', data }], at);
  });
}
