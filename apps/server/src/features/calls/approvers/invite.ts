import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { lockOpenAccount } from '../../accounts/developers/index.ts';
import { useQuota } from '../../accounts/quotas/index.ts';
import { addressOfPrincipal, displayNameOf } from '../../people/scim/scim.queries.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { findByMailbox, insertApprover, updateApprover } from './approvers.repo.ts';
import { INVITE_MS, mailboxOf } from './approvers.rules.ts';
import type { ApproverInvitation, NewApprover } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { invitationMail, mailQuietly } from './mail.ts';
import { toApprover } from './manage.ts';

/**
 * Invites a person to enrol. The link goes by mail alone where it can. Another invitation of the same address voids
 * the one before.
 * @throws BAD_REQUEST, PLAN_LIMIT_EXCEEDED, CONFLICT for an approver who has enrolled, a principal without a known address, or a live
 * principal whom no mail reaches
 */
export async function inviteApprover(
  deps: ApproverDeps,
  caller: Caller,
  input: NewApprover,
): Promise<ApproverInvitation> {
  const at = deps.clock();
  const { tenant } = caller;
  const secret = newSecret();
  const inviteExpiresAt = new Date(at.getTime() + INVITE_MS);

  return inTransaction(deps.db, async (tx) => {
    const invited = await personIn(tx, caller, input); // held, so before the account
    const mailbox = mailboxOf(invited.email);
    const account = await lockOpenAccount(tx, tenant);
    const known = await findByMailbox(tx, tenant, mailbox);
    if (known && (known.status !== 'invited' || known.principalId !== invited.principalId)) {
      throw new AppError('CONFLICT', 'This address is that of an approver.', { field: 'email' });
    }
    const isMailed = deps.mailer !== undefined && account.emailVerified;
    if (invited.kind === 'principal' && caller.mode !== 'sandbox' && !isMailed) throw mailNeeded();
    if (!known) await useQuota(tx, deps.quotas, caller, 'approvers', at);
    const asked = {
      ...invited,
      groups: input.groups ?? [],
      connectors: input.connectors ?? null,
      enrolledBy: caller.actor,
      inviteHash: hashOf(secret),
      inviteMailed: isMailed,
      inviteExpiresAt,
    };
    const row = known
      ? await updateApprover(tx, tenant, known.id, asked)
      : await insertApprover(tx, tenant, {
          ...asked,
          id: newId('apv', at),
          mailbox,
          emailVerified: false,
          assurance: 'single',
          status: 'invited',
          confirmedBy: null,
          activeFrom: null,
          absentFrom: null,
          absentUntil: null,
          deputyId: null,
          recoveryFrom: null,
          ssoSub: null,
          ssoUserId: null,
          createdAt: at,
        });
    const link = `${deps.publicBaseUrl}/approve#invite=${tenant.developerId}.${row.id}.${secret}`;
    const { name: developerName } = account;
    const mail = { to: row.email, ...invitationMail({ developerName, ...tenant, link }) };
    if (isMailed) await afterCommit(tx, () => mailQuietly(deps, tenant, mail));
    const data = { approverId: row.id, mailed: isMailed };
    await recordEntry(tx, caller, { action: 'approver.invited', data }, at);
    return { ...toApprover(row), link: isMailed ? null : link, expiresAt: inviteExpiresAt.toISOString() };
  });
}

/** A key that saw the link of a principal could enrol in the person's place. */
const mailNeeded = () =>
  new AppError(
    'CONFLICT',
    'The link of a principal goes by mail alone. Verify the address of your account, where the service sends mail.',
    { sub_reason: 'mail_needed' },
  );

/** A principal's address is the one that the directory tells, and never one that is typed here. */
async function personIn(tx: Tx, { tenant }: Caller, input: NewApprover) {
  const { email, principalId, displayName } = input;
  if ((email === undefined) === (principalId === undefined)) {
    throw badField('email', 'not_allowed', 'Name either an address or a principal.');
  }
  if (principalId === undefined) {
    if (displayName === undefined) throw badField('displayName', 'required');
    return { kind: 'person' as const, principalId: null, email: email ?? '', displayName };
  }
  const isActive = await holdPrincipal(tx, tenant, principalId);
  const known = await addressOfPrincipal(tx, tenant, principalId);
  if (known === undefined || !isActive) {
    throw new AppError('CONFLICT', 'The directory tells no address of this principal.', {
      field: 'principalId',
    });
  }
  const name = displayName ?? (await displayNameOf(tx, tenant, principalId)) ?? principalId;
  return {
    kind: 'principal' as const,
    principalId,
    email: known,
    displayName: [...name].slice(0, 100).join(''),
  };
}
