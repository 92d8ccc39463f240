import { canonicalJson } from '@behest/protocol/canonical-json';
import { parseDuration } from '@behest/protocol/durations';
import { actionHash, actionOf } from '@behest/protocol/enforcement/action';
import { bindingOf } from '@behest/protocol/enforcement/manifest-checks';
import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { newId, newSalt } from '../../../platform/ids.ts';
import { findFourEyesRule } from '../../accounts/developers/developers.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { listAllApprovers } from '../approvers/index.ts';
import { aboutOf, type DecisionsDeps, endedAct, factsOf, refusedUse } from './decisions.acts.ts';
import {
  type DecisionRow,
  findCaseVersion,
  findDenied,
  findOfCall,
  findOpen,
  insertDecision,
  updateDecision,
} from './decisions.repo.ts';
import { dueAt } from './decisions.rules.ts';
import type { Decision, NewDecision } from './decisions.schema.ts';
import { noticesOf } from './notices.ts';
import { eligibleOf, hasQuorum, requesterOf, routeOf } from './routing.ts';
import { toDecision, withApprovals } from './show.ts';

const [SHORTEST, LONGEST] = [60, 86_400]; // seconds

/** A request, and whether it is a new one. */
export interface OpenedDecision {
  readonly isNew: boolean;
  readonly decision: Decision;
}

/**
 * Asks people to decide about a call. Nobody is asked about a call that another check would refuse. The same call asks
 * once while its request is open, or while its time goes on after a refusal. A call that names itself gets its own request.
 * @throws BAD_REQUEST, CONFLICT when another check refuses the call, too few people may decide, or another call has the id
 */
export async function askForDecision(
  deps: DecisionsDeps,
  caller: Caller,
  input: NewDecision,
  text: string,
): Promise<OpenedDecision> {
  const at = deps.clock();
  const { tenant } = caller;
  const seconds = parseDuration(input.expiresIn);
  if (seconds === undefined || seconds < SHORTEST || seconds > LONGEST)
    throw badField('expiresIn', 'not_allowed');
  const asked = await callToDecide(deps, caller, input, text);
  const { caseId, callId, caseVersion = null } = input;

  const expiresAt = new Date(at.getTime() + seconds * 1000);

  return inTransaction(deps.db, async (tx) => {
    const answered = async (row: DecisionRow): Promise<OpenedDecision> => ({
      isNew: false,
      decision: await withApprovals({ ...deps, db: tx }, row),
    });
    const own = callId === undefined ? undefined : await findOwn(tx, tenant, { ...asked, callId }, at);
    if (own) return answered(own);
    if (caseId !== undefined) {
      const current = await findCaseVersion(tx, tenant, caseId);
      if (current !== undefined && current !== caseVersion) throw conflict('case_changed');
    }
    const acts: Act[] = [];
    const open = await findOpen(tx, tenant, asked);
    if (open && open.expiresAt > at) return answered(open);
    // After the look for an open one, or a denial that comes in between is in neither.
    const refused = await findDenied(tx, tenant, asked, at);
    if (refused) return answered(refused);
    if (open)
      acts.push(
        endedAct('decision.expired', await updateDecision(tx, tenant, open.id, { status: 'expired' })),
      );
    const all = await listAllApprovers(tx, tenant);
    const routed = routeOf(all, asked, input.approvers, at);
    const eligible = eligibleOf(all, routed, at);
    const isRequester = await requesterOf(tx, tenant, asked.principalId);
    const rule = await findFourEyesRule(tx, tenant);
    if (!hasQuorum(eligible, { quorum: asked.quorum, rule, isRequester })) throw conflict('no_quorum');
    const row = await insertDecision(tx, tenant, {
      ...asked,
      id: newId('dec', at),
      status: 'pending',
      caseId: caseId ?? null,
      caseVersion,
      nonce: newSalt(),
      summary: input.summary ?? null,
      routed,
      reminders: 0,
      hold: 'free',
      callId: null,
      askedCallId: callId ?? null,
      heldAt: null,
      createdAt: at,
      expiresAt,
      dueAt: dueAt(at, expiresAt, 0),
    });
    if (!row) {
      const rival = (await findOpen(tx, tenant, asked)) ?? (await findDenied(tx, tenant, asked, at));
      if (!rival) throw conflict('case_changed');
      return answered(rival);
    }
    await noticesOf(deps, tx, caller, row, { what: 'requested', eligible });
    const data = { ...factsOf(row), expiresAt: row.expiresAt.toISOString() };
    await recordActs(tx, caller, [...acts, { type: 'decision.requested', ...aboutOf(row), data }], at);
    return { isNew: true, decision: toDecision(deps, row, []) };
  });
}

interface NamedCall {
  readonly grantId: string;
  readonly actionHash: string;
  readonly callId: string;
}

/**
 * The request of a call that names itself, in whatever state.
 * @throws CONFLICT when the id is that of another call; a new version of a case is a new call
 */
async function findOwn(tx: Tx, tenant: Tenant, call: NamedCall, at: Date): Promise<DecisionRow | undefined> {
  const own = await findOfCall(tx, tenant, call, call.callId, at);
  if (!own || own.actionHash === call.actionHash) return own;
  if (own.status === 'superseded') return undefined;
  throw conflict('call_id_used');
}

const SENTENCES = {
  call_id_used: 'This `callId` is that of another call. Name each call with an id of its own.',
  no_quorum: 'Too few people may decide about this call.',
  case_changed: 'The case has another version by now.',
  not_needed: 'This call needs no decision.',
} as const;

const conflict = (reason: keyof typeof SENTENCES) =>
  new AppError('CONFLICT', SENTENCES[reason], { sub_reason: reason });

/** @throws CONFLICT with the denial of the check that refuses the call */
async function callToDecide(deps: DecisionsDeps, caller: Caller, input: NewDecision, text: string) {
  const { grantToken, connector, tool, caseId, caseVersion } = input;
  const { resource, amount } = input;
  const judgedCall = {
    ...{ grantToken, connector, tool, arguments: input.arguments },
    ...(resource !== undefined && { resource }),
    ...(amount !== undefined && { amount }),
    ...(caseId !== undefined && { caseId }),
    ...(caseVersion !== undefined && { caseVersion }),
  };
  const { facts, call, result } = await deps.judgeCall(deps, caller, judgedCall, text);
  const { row, manifest } = facts;
  if (result.allowed) throw conflict('not_needed');
  if (!row) throw refusedUse('unknown_grant'); // as if the token was never issued
  if (result.reason_code !== 'decision_required' || result.sub_reason !== null) {
    const { reason_code, sub_reason } = result;
    throw new AppError('CONFLICT', 'Another check refuses this call.', { reason_code, sub_reason });
  }
  const declared = manifest?.tools.get(tool);
  const binding = manifest && declared && (await bindingOf(manifest, declared));
  const parts = {
    connector,
    tool,
    arguments: call.arguments,
    caseId: caseId ?? null,
    caseVersion: caseVersion ?? null,
    binding,
  };
  const action = actionOf(parts);
  if (!action) throw badField('arguments', 'not_allowed', 'The arguments have no canonical form.');
  const fourEyes = declared?.four_eyes_on;
  if (fourEyes && action.decision === null) throw badField('arguments.decision', 'required');
  const quorum = fourEyes?.some((word) => word === action.decision) ? 2 : 1;
  const { agentId, agentDid, principalId, purpose } = row;
  return {
    ...{ agentId, agentDid, principalId, purpose, grantId: row.id, connector, tool, quorum },
    permission: String(result.permission),
    action: canonicalJson(action),
    given: binding ? canonicalJson(Object(call.arguments)) : null,
    actionHash: await actionHash(action),
    decision: action.decision,
    fourEyesOn: fourEyes ? [...fourEyes] : null,
  };
}
