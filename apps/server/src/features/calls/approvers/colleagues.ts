import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  type ApproverRow,
  findApprover,
  listAllApprovers,
  NO_LINK,
  updateApprover,
} from './approvers.repo.ts';
import { type Assurance, isActiveAt, mayDeputiseFor } from './approvers.rules.ts';
import type { Approver, ApproverColleagues } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { getApprover } from './manage.ts';
import { approverIn, mustBeFresh } from './session.ts';
import { toApprover } from './show.ts';

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
