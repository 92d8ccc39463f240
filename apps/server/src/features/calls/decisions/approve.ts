import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { type FourEyesRule, findFourEyesRule } from '../../accounts/developers/developers.queries.ts';
import { holdGrant } from '../../grants/grants/grants.queries.ts';
import { recordActs, recordBlockedAttempt } from '../../record/audit/index.ts';
import {
  type ApproverRow,
  approverIn,
  beginSigning,
  type CheckedSigning,
  checkSigning,
  findApprover,
  holdApprover,
  isAbsentAt,
  isAssured,
  listAllApprovers,
  mustBeFresh,
  subOf,
  takeSigning,
} from '../approvers/index.ts';
import { aboutOf, type DecisionsDeps, factsOf } from './decisions.acts.ts';
import {
  type ApprovalRow,
  type DecisionRow,
  deleteApprovals,
  findCaseVersion,
  findDecision,
  insertApproval,
  listApprovals,
  lockDecision,
  updateDecision,
} from './decisions.repo.ts';
import { type Eyes, fourEyesFault, statusAt } from './decisions.rules.ts';
import type { ApproveDecisionRequest } from './decisions.schema.ts';
import { ended, isOpenAt } from './end.ts';
import { noticesOf } from './notices.ts';
import { type Eligible, eligibleOf, requesterOf } from './routing.ts';

/** A request as it stands for one person. */
export interface ApprovalState {
  readonly row: DecisionRow;
  readonly approver: ApproverRow;
  /** Undefined for a person who is absent, or who may read and not decide. */
  readonly eligible: Eligible | undefined;
}

/** @throws NOT_FOUND for a request that does not concern this person */
export async function standingOf(
  deps: Pick<DecisionsDeps, 'clock'>,
  db: DecisionsDeps['db'],
  caller: Caller,
  id: string,
): Promise<ApprovalState> {
  const at = deps.clock();
  const { approverId } = approverIn(caller);
  const row = await findDecision(db, caller, id);
  const approver = await findApprover(db, caller.tenant, approverId);
  if (!row || !approver) throw notFound();
  const all = await listAllApprovers(db, caller.tenant);
  const eligible = eligibleOf(all, row.routed, at).find((one) => one.row.id === approverId);
  if (!eligible && !row.routed.includes(approverId)) throw notFound();
  return { row, approver, eligible };
}

/** Asks for the passkey of an approver over a call. @throws NOT_FOUND, CONFLICT, GONE */
export async function beginApproval(deps: DecisionsDeps, caller: Caller, id: string) {
  const standing = await standingOf(deps, deps.db, caller, id);
  mustBePending(standing, deps.clock());
  return beginSigning(deps, standing.approver, signedOf(standing.row));
}

const signedOf = ({ id, actionHash, nonce }: DecisionRow) => ({ decisionId: id, actionHash, nonce });

/** @throws CONFLICT and FORBIDDEN as `mustBeEligible`, and as `ended` */
function mustBePending(standing: ApprovalState, at: Date): Eligible {
  const status = statusAt(standing.row, at);
  if (status !== 'pending') throw ended(status);
  return mustBeEligible(standing, at);
}

/** @throws CONFLICT while the person is absent, FORBIDDEN before they may decide */
function mustBeEligible({ approver, eligible }: ApprovalState, at: Date): Eligible {
  if (eligible) return eligible;
  if (isAbsentAt(approver, at))
    throw new AppError('CONFLICT', 'End your absence to decide.', { sub_reason: 'absent' });
  throw new AppError('FORBIDDEN', 'You may not decide yet.', { sub_reason: 'not_active' });
}

/**
 * Takes the approval of one person: fact, entry and event in one transaction, under the lock of the request.
 * @throws CONFLICT when call, case or status changed; FORBIDDEN for an old session, or the same person twice;
 * CHALLENGE_INVALID, WEBAUTHN_VERIFICATION_FAILED, WEBAUTHN_CLONE_SUSPECTED
 */
export async function approveDecision(
  deps: DecisionsDeps,
  caller: Caller,
  id: string,
  input: ApproveDecisionRequest,
) {
  const before = await standingOf(deps, deps.db, caller, id);
  mustBePending(before, deps.clock());
  if (input.actionHash !== before.row.actionHash) {
    throw new AppError('CONFLICT', 'This is another call.', { sub_reason: 'action_mismatch' });
  }
  const signing = await checkSigning(deps, before.approver, signedOf(before.row), input.assertion);
  return inTransaction(deps.db, async (tx) => {
    const locked = await lockDecision(tx, caller.tenant, id);
    if (!locked) throw notFound();
    await holdApprover(tx, caller.tenant, before.approver.id);
    const standing = await standingOf(deps, tx, caller, id);
    const status = await approveLocked(deps, tx, caller, standing, signing);
    return { decision: 'approved' as const, status };
  });
}

async function approveLocked(
  deps: DecisionsDeps,
  tx: Tx,
  caller: Caller,
  standing: ApprovalState,
  signing: CheckedSigning,
) {
  const at = deps.clock();
  const { row } = standing;
  const { row: approver, onBehalfOf } = mustBePending(standing, at);
  const session = await mustBeFresh(deps, tx, caller);
  await mustStand(deps, tx, row);
  const first = await firstApproval(tx, row);
  const rule = await findFourEyesRule(tx, caller.tenant);
  const isRelaxed = rule.isRelaxed && row.quorum === 2;
  const sub = subOf(approver);
  const { credential, evidence } = signing;
  const { deviceHash, id: sessionId } = session;
  if (first)
    await mustDiffer(deps, tx, caller, {
      row,
      first,
      approver,
      seen: { credential, deviceHash, sessionId },
      rule,
    });
  await takeSigning(deps, tx, caller, signing);
  const position = first ? 2 : 1;
  await insertApproval(tx, caller.tenant, {
    ...{ id: newId('dgnt', at), decisionId: row.id, approverId: approver.id, sub, position },
    ...{ onBehalfOf: onBehalfOf ?? null, isRelaxed, credential, deviceHash, sessionId },
    evidence: JSON.stringify(evidence),
    approvedAt: at,
  });
  const data = { ...factsOf(row), approverId: approver.id };
  if (position < row.quorum) {
    await noticesOf(deps, tx, caller, row, { what: 'first_approval', except: approver.id });
    await recordActs(tx, caller, [{ type: 'decision.first_approval', ...aboutOf(row), data }], at);
    return 'pending' as const;
  }
  const granted = await updateDecision(tx, caller.tenant, row.id, { status: 'approved' });
  await noticesOf(deps, tx, caller, granted, { what: 'ended' });
  await recordActs(tx, caller, [{ type: 'decision.granted', ...aboutOf(row), data }], at);
  return 'approved' as const;
}

/** @throws CONFLICT when the case moved on, or the grant ended */
async function mustStand({ clock }: DecisionsDeps, tx: Tx, row: DecisionRow): Promise<void> {
  const current = row.caseId === null ? undefined : await findCaseVersion(tx, row, row.caseId);
  if (current !== undefined && current !== row.caseVersion) {
    throw new AppError('CONFLICT', 'The case has another version by now.', { sub_reason: 'case_changed' });
  }
  const reach = { tenant: { developerId: row.developerId }, agentIds: null };
  const grant = await holdGrant(tx, reach, row.grantId); // no revocation comes in between
  if (grant?.status === 'active' && grant.expiresAt > clock()) return;
  throw new AppError('CONFLICT', 'The agent may no longer act for this person.', {
    sub_reason: 'grant_ended',
  });
}

/** The approval that stands. A person who was removed or suspended meanwhile has approved nothing. */
async function firstApproval(tx: Tx, row: DecisionRow): Promise<ApprovalRow | undefined> {
  const [first] = await listApprovals(tx, row, [row.id]);
  if (!first) return undefined;
  const approver = await findApprover(tx, row, first.approverId);
  if (approver?.status === 'active') return first;
  await deleteApprovals(tx, row, row.id);
  return undefined;
}

interface Second {
  readonly row: DecisionRow;
  readonly first: ApprovalRow;
  readonly approver: ApproverRow;
  readonly seen: Pick<Eyes, 'credential' | 'deviceHash' | 'sessionId'>;
  readonly rule: FourEyesRule;
}

/** @throws FORBIDDEN with the check by which the second person is not another one */
async function mustDiffer(
  deps: DecisionsDeps,
  tx: Tx,
  caller: Caller,
  { row, first, approver, seen, rule }: Second,
) {
  const isRequester = await requesterOf(tx, caller.tenant, row.principalId);
  const other = await findApprover(tx, caller.tenant, first.approverId);
  if (!other) throw notFound();
  const check = fourEyesFault(
    { ...eyesOf(other, isRequester, rule), ...first },
    { ...eyesOf(approver, isRequester, rule), ...seen },
    rule.isRelaxed,
  );
  if (!check) return;
  const { agentId, agentDid, principalId } = row;
  const data = { decisionId: row.id, approverId: approver.id, check };
  const attempt = {
    action: 'decision.approval_refused',
    about: { agentId, agentDid, principalId },
    data,
  } as const;
  await inTransaction(deps.aside, (own) => recordBlockedAttempt(own, caller, attempt, deps.clock()));
  throw new AppError('FORBIDDEN', 'Two different people have to approve this call.', {
    sub_reason: 'same_approver',
    check,
  });
}

const eyesOf = (row: ApproverRow, isRequester: (row: ApproverRow) => boolean, { least }: FourEyesRule) => ({
  approverId: row.id,
  sub: subOf(row),
  mailbox: row.mailbox,
  isAssured: isAssured(row.assurance, least),
  isRequester: isRequester(row),
});

/** Refuses a call for good, also after a first approval. @throws NOT_FOUND, CONFLICT, GONE */
export function denyDecision(deps: DecisionsDeps, caller: Caller, id: string, reason: string | undefined) {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const locked = await lockDecision(tx, caller.tenant, id);
    await holdApprover(tx, caller.tenant, approverIn(caller).approverId); // no removal comes in between
    const standing = await standingOf(deps, tx, caller, id);
    const { row, approver } = standing;
    if (!locked || !isOpenAt(row, at)) throw ended(statusAt(row, at));
    mustBeEligible(standing, at);
    const denied = await updateDecision(tx, caller.tenant, id, { status: 'denied' });
    await noticesOf(deps, tx, caller, denied, { what: 'ended' });
    const data = { ...factsOf(row), approverId: approver.id };
    const evidence = { ...(reason !== undefined && { reason }) };
    await recordActs(tx, caller, [{ type: 'decision.denied', ...aboutOf(row), data, evidence }], at);
    return { decision: 'denied' as const, status: 'denied' as const };
  });
}
