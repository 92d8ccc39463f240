import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { isPrincipalActive } from '../../../platform/db/principals.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import { pageLanguage } from '../../../platform/languages.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { lockOpenAccount } from '../../accounts/developers/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  type ApproverRow,
  findApprover,
  listAllApprovers,
  NO_LINK,
  updateApprover,
} from './approvers.repo.ts';
import { type Assurance, INVITE_MS, isActiveAt, mayDeputiseFor } from './approvers.rules.ts';
import type { Approver, ApproverColleagues } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { confirmationMail, mailQuietly } from './mail.ts';
import { getApprover, toApprover } from './manage.ts';
import { approverIn, mustBeFresh } from './session.ts';

/** Whether the account has an approver who confirms people. */
export const hasConfirmer = (all: readonly ApproverRow[], at: Date): boolean =>
  all.some((row) => row.kind === 'person' && isActiveAt(row, at));

/**
 * Mails a principal who has enrolled a link by which they confirm that they did.
 * @param row with `Accept-Language` of their browser
 */
export async function askForConfirmation(
  deps: ApproverDeps,
  tx: Tx,
  row: ApproverRow & { readonly languages: string | undefined },
): Promise<void> {
  const at = deps.clock();
  const secret = newSecret();
  const inviteExpiresAt = new Date(at.getTime() + INVITE_MS);
  await updateApprover(tx, row, row.id, { inviteHash: hashOf(secret), inviteExpiresAt });
  const { developerId, email } = row;
  const link = `${deps.publicBaseUrl}/approve#confirm=${secret}`;
  const account = { developerName: await findDeveloperName(tx, row), developerId };
  const mail = confirmationMail({ ...account, link }, pageLanguage(row.languages));
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

type ListDeps = Pick<ApproverDeps, 'clock'> & { readonly db: Executor };

/** The people of the account for whom an approver may do something, or who may do something for them. */
export async function listColleagues({ db, clock }: ListDeps, caller: Caller): Promise<ApproverColleagues> {
  const { approverId } = approverIn(caller);
  const everybody = await listAllApprovers(db, caller.tenant);
  const self = everybody.find(({ id }) => id === approverId);
  const all = everybody.filter(
    ({ id, kind, status, assurance }) =>
      id !== approverId &&
      (status === 'pending_confirmation' ||
        (kind === 'person' && status === 'active' && assurance === 'single')),
  );
  return {
    colleagues: all.map(({ id, displayName, email, status }) => ({
      approverId: id,
      displayName,
      email,
      status,
    })),
    deputies: everybody
      .filter((one) => self !== undefined && mayDeputiseFor(one, self, clock()))
      .map(({ id, displayName, email }) => ({ approverId: id, displayName, email })),
    recoveries: everybody.flatMap(({ id, displayName, email, recoveryFrom }) =>
      recoveryFrom === null
        ? []
        : [{ approverId: id, displayName, email, recoveryFrom: recoveryFrom.toISOString() }],
    ),
  };
}

const assuranceOf = ({ kind, assurance, emailVerified }: ApproverRow): Assurance => {
  if (kind === 'principal' || assurance === 'sso') return assurance;
  return emailVerified ? 'dual' : 'single';
};

/**
 * Vouches for a person, with a passkey used a short time ago. An address that only a link without mail has proved stays
 * `single`.
 * @throws NOT_FOUND, FORBIDDEN for an approver who is not active
 */
export function confirmColleague(deps: ApproverDeps, caller: Caller, id: string): Promise<Approver> {
  const at = deps.clock();
  const { tenant } = caller;
  return inTransaction(deps.db, async (tx) => {
    await mustBeFresh(deps, tx, caller);
    const { approverId } = approverIn(caller);
    const voucher = await findApprover(tx, tenant, approverId);
    if (voucher?.kind !== 'person' || !isActiveAt(voucher, at) || approverId === id) {
      throw new AppError('FORBIDDEN', 'Only another active approver can vouch for a person.');
    }
    const row = await getApprover(tx, tenant, id);
    const isPerson = row.kind === 'person' && row.status === 'active';
    if (row.status !== 'pending_confirmation' && !isPerson) throw notFound();
    const confirmed = await updateApprover(tx, tenant, id, {
      confirmedBy: caller.actor,
      assurance: assuranceOf(row),
      ...(row.status === 'pending_confirmation' && { ...NO_LINK, status: 'active', activeFrom: at }),
    });
    const data = { approverId: id, confirmedBy: approverId };
    await recordActs(tx, caller, [{ type: 'approver.confirmed', data }], at);
    return toApprover(confirmed);
  });
}
