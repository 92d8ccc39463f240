import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { lockOpenAccount } from '../../accounts/developers/index.ts';
import { freeQuota } from '../../accounts/quotas/index.ts';
import { deletePasskeyRowsOf } from '../../people/passkeys/index.ts';
import type { OnPrincipalClosed, OnUserLeft } from '../../people/scim/index.ts';
import { usersOfPrincipals } from '../../people/scim/scim.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  type ApproverRow,
  deleteApproverSessions,
  deleteSubscription,
  findApprover,
  listAllApprovers,
  listApproverRows,
  lockAllApprovers,
  lockApprover,
  NO_LINK,
  updateApprover,
} from './approvers.repo.ts';
import { approverOwner, isActiveAt, LONGEST_ABSENCE_MS, mayDeputiseFor } from './approvers.rules.ts';
import type {
  Approver,
  ApproverAbsence,
  ApproverChange,
  ApproverPage,
  ApproverQuery,
} from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { tellOfChange } from './mail.ts';

export async function listApprovers(
  { db }: Pick<ApproverDeps, 'db'>,
  { tenant }: Caller,
  query: ApproverQuery,
): Promise<ApproverPage> {
  const { page, nextCursor } = pageOf(await listApproverRows(db, tenant, query), byId, toApprover);
  return { approvers: page, nextCursor };
}

/** @throws NOT_FOUND, CONFLICT for the last active approver, and for one who has not enrolled */
export function changeApprover(
  deps: ApproverDeps,
  caller: Caller,
  id: string,
  change: ApproverChange,
): Promise<Approver> {
  const at = deps.clock();
  const { tenant } = caller;
  return inTransaction(deps.db, async (tx) => {
    const { status } = change;
    await lockOpenAccount(tx, tenant);
    if (status === 'suspended') await lockAllApprovers(tx, tenant);
    const row = await getApprover(tx, tenant, id);
    if (status !== undefined) {
      const isSwitch = row.status === 'active' || row.status === 'suspended';
      if (!isSwitch) throw new AppError('CONFLICT', 'This person is not enrolled yet.', { field: 'status' });
      if (status === 'suspended') await mustNotBeLast(tx, caller, row, at);
    }
    const changed = await updateApprover(tx, tenant, id, change);
    if (status === 'suspended') await deleteApproverSessions(tx, tenant, id);
    await tellOfChange(deps, tx, caller, row, changed);
    const data = { approverId: id, changed: Object.keys(change) };
    await recordActs(tx, caller, [{ type: 'approver.updated', data }], at);
    return toApprover(changed);
  });
}

/**
 * Removes a person at once, with passkeys and sessions. Their first of two approvals no longer counts. Decision
 * grants that the service has issued stay valid.
 * @throws NOT_FOUND, CONFLICT for the last active approver
 */
export function removeApprover(
  { db, clock }: Pick<ApproverDeps, 'db' | 'clock'>,
  caller: Caller,
  id: string,
): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    await lockOpenAccount(tx, caller.tenant);
    await lockAllApprovers(tx, caller.tenant);
    const row = await getApprover(tx, caller.tenant, id);
    await mustNotBeLast(tx, caller, row, at);
    await leave(tx, row);
    await freeQuota(tx, caller, 'approvers', 1);
    const removed: Act = { type: 'approver.removed', data: { approverId: id, reason: 'api' } };
    await recordActs(tx, caller, [removed], at);
  });
}

/** The address goes, because nothing needs it now. */
async function leave(tx: Tx, { developerId, id }: ApproverRow): Promise<void> {
  await deleteApproverSessions(tx, { developerId }, id);
  await deleteSubscription(tx, { developerId }, { approverId: id });
  await deletePasskeyRowsOf(tx, { developerId }, approverOwner(id), { isForGood: true });
  await updateApprover(tx, { developerId }, id, {
    ...{
      ...NO_LINK,
      status: 'removed',
      email: '',
      mailbox: '',
      displayName: '',
      ssoSub: null,
      ssoUserId: null,
    },
  });
}

/**
 * Removes the approvers whom the directory has deactivated. A key can deactivate people too, so an account keeps its
 * last approver, who is signed out and for whom their provider no longer vouches.
 */
export const removeApproversOfUser: OnUserLeft = async (tx, caller, userId, at) => {
  const { tenant } = caller;
  await lockAllApprovers(tx, tenant);
  const all = await listAllApprovers(tx, tenant);
  const named = all.flatMap(({ principalId }) => principalId ?? []);
  const users = await usersOfPrincipals(tx, tenant, named); // one of any id of theirs
  const rows: ApproverRow[] = [];
  for (const row of all) {
    const isTheirs = row.principalId !== null && users.get(row.principalId) === userId;
    if (!isTheirs && row.ssoUserId !== userId) continue;
    if (await isLast(tx, caller, row, at)) await lowerAssurance(tx, row);
    else {
      await leave(tx, row);
      rows.push(row);
    }
  }
  return offboarded(tx, caller, rows);
};

/** Removes those who approve as a person who is offboarded. */
export const removeApproversOfPrincipals: OnPrincipalClosed = async (tx, caller, principalIds) => {
  await lockAllApprovers(tx, caller.tenant);
  const all = await listAllApprovers(tx, caller.tenant);
  const rows = all.filter(({ principalId }) => principalId !== null && principalIds.includes(principalId));
  for (const row of rows) await leave(tx, row);
  return offboarded(tx, caller, rows);
};

async function offboarded(tx: Tx, caller: Caller, rows: readonly ApproverRow[]): Promise<Act[]> {
  if (rows.length > 0) await freeQuota(tx, caller, 'approvers', rows.length);
  return rows.map(({ id }): Act => {
    const data = { approverId: id, reason: 'principal_offboarded' } as const;
    return { type: 'approver.removed', data };
  });
}

/** The holder of a key could otherwise remove all approvers, and begin with a person of their own. @throws CONFLICT */
async function mustNotBeLast(tx: Tx, caller: Caller, row: ApproverRow, at: Date): Promise<void> {
  if (!(await isLast(tx, caller, row, at))) return;
  throw new AppError('CONFLICT', 'An account keeps one active approver. Enrol another one first.', {
    sub_reason: 'last_approver',
  });
}

/** A person whose first day is not over has decided nothing yet, and must be removable: it may be an intruder. */
async function isLast(tx: Tx, { mode }: Caller, row: ApproverRow, at: Date): Promise<boolean> {
  if (mode === 'sandbox' || row.kind !== 'person' || !isActiveAt(row, at)) return false;
  return !(await listAllApprovers(tx, row)).some(
    (other) => other.id !== row.id && other.kind === 'person' && isActiveAt(other, at),
  );
}

async function lowerAssurance(tx: Tx, { developerId, id }: ApproverRow): Promise<void> {
  await deleteApproverSessions(tx, { developerId }, id);
  await deleteSubscription(tx, { developerId }, { approverId: id });
  await updateApprover(tx, { developerId }, id, { assurance: 'single', confirmedBy: null });
}

/** @param id the approver who is absent @throws NOT_FOUND, BAD_REQUEST */
export function setAbsence(
  deps: ApproverDeps,
  caller: Caller,
  id: string,
  { from, until, deputyApproverId }: ApproverAbsence,
): Promise<Approver> {
  const at = deps.clock();
  const { tenant } = caller;
  const [absentFrom, absentUntil] = [new Date(from), new Date(until)];
  const length = absentUntil.getTime() - absentFrom.getTime();
  if (length <= 0 || absentUntil <= at || length > LONGEST_ABSENCE_MS) throw badField('until', 'not_allowed');
  return inTransaction(deps.db, async (tx) => {
    const row = await getApprover(tx, tenant, id);
    await mustBeDeputy(tx, row, deputyApproverId, at);
    const change = { absentFrom, absentUntil, deputyId: deputyApproverId ?? null };
    return updated(deps, tx, caller, row, change);
  });
}

/** @throws NOT_FOUND */
export function endAbsence(deps: ApproverDeps, caller: Caller, id: string): Promise<void> {
  return inTransaction(deps.db, async (tx) => {
    const row = await getApprover(tx, caller.tenant, id);
    if (row.absentFrom === null) return;
    await updated(deps, tx, caller, row, { absentFrom: null, absentUntil: null, deputyId: null });
  });
}

async function updated(
  deps: ApproverDeps,
  tx: Tx,
  caller: Caller,
  row: ApproverRow,
  change: Partial<ApproverRow>,
) {
  const changed = await updateApprover(tx, caller.tenant, row.id, change);
  await tellOfChange(deps, tx, caller, row, changed);
  const data = { approverId: row.id, changed: ['absence'] };
  await recordActs(tx, caller, [{ type: 'approver.updated', data }], deps.clock());
  return toApprover(changed);
}

/** @throws BAD_REQUEST */
async function mustBeDeputy(tx: Tx, row: ApproverRow, deputyId: string | undefined, at: Date): Promise<void> {
  if (deputyId === undefined) return;
  const deputy = await findApprover(tx, row, deputyId);
  if (!deputy || !mayDeputiseFor(deputy, row, at))
    throw badField('deputyApproverId', 'not_allowed', 'Name another active approver with as much assurance.');
}

/** Locks an approver. @throws NOT_FOUND */
export async function getApprover(tx: Tx, tenant: Tenant, id: string): Promise<ApproverRow> {
  const row = await lockApprover(tx, tenant, id);
  if (!row || row.status === 'removed') throw notFound();
  return row;
}

/** Keeps an approver as they are until the commit. */
export const holdApprover = async (tx: Tx, tenant: Tenant, id: string): Promise<void> =>
  void (await lockApprover(tx, tenant, id));

/** The `sub` of a person's decision grants, the same for all their life as an approver. */
export const subOf = ({
  id,
  principalId,
  ssoSub,
}: Pick<ApproverRow, 'id' | 'principalId' | 'ssoSub'>): string =>
  principalId === null ? (ssoSub ?? `approver:${id}`) : `principal:${principalId}`;

/** An approver as answers show one. */
export function toApprover(row: ApproverRow): Approver {
  const { id, kind, principalId, email, emailVerified, displayName, groups, connectors } = row;
  const { assurance, status, enrolledBy, confirmedBy, activeFrom, absentFrom, absentUntil, deputyId } = row;
  const { recoveryFrom } = row;
  const absence =
    absentFrom && absentUntil
      ? { from: absentFrom.toISOString(), until: absentUntil.toISOString(), deputyApproverId: deputyId }
      : null;
  return {
    ...{ approverId: id, kind, principalId, sub: subOf(row), email, emailVerified, displayName },
    ...{ groups, connectors, assurance, status, enrolledBy, confirmedBy, absence },
    activeFrom: activeFrom?.toISOString() ?? null,
    recoveryFrom: recoveryFrom?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  };
}
