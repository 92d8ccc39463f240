import type { Call } from '@behest/protocol/enforcement/call';
import { denialKeyOf } from '@behest/protocol/enforcement/checks';
import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import type { DecisionStore } from '@behest/protocol/enforcement/ports';
import type { Result } from '@behest/protocol/enforcement/result';
import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { ATTEMPTS, type Executor, isLostRace } from '../../../platform/db/db.ts';
import { unavailable } from '../../../platform/errors.ts';
import { hook } from '../../../platform/hooks.ts';
import { definePart } from '../../../platform/parts.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { requireNewConsent } from '../../grants/grants/index.ts';
import type { PolicyExplanation } from '../../grants/policies/index.ts';
import { prepareRuling } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { type HeldCall, writeRuling } from './enforcement.repo.ts';
import type { EnforceRequest } from './enforcement.schema.ts';
import { actionHashOf, enforcerFor, type PolicyDeps, policiesOn } from './enforcer.ts';
import { type CallFacts, type FactDeps, findFacts } from './facts.ts';
import { meterOfAgent } from './meter.ts';
import { withExactNumbers } from './numbers.rules.ts';
import { type CallData, callDataOf, chargeOf } from './record.ts';

export interface DecisionDeps {
  readonly db: Executor;
  /** For steps of a decision, which stand whatever becomes of the request that takes them. */
  readonly aside: Executor;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly issuer: string;
}

/** Opens the decisions of a caller, for the check of a call that needs one. One feature listens. */
export type OpenDecisions = (deps: DecisionDeps, caller: Caller) => DecisionStore;

export const decisionsAsked = hook<OpenDecisions>('decisions asked');

export interface EnforcementDeps extends FactDeps, PolicyDeps, DecisionDeps {
  /** Undefined where nothing keeps decisions: a call that needs one is denied. */
  readonly openDecisions: OpenDecisions | undefined;
  /** The meter of the deployment. Its reservations are transactions of their own, whatever `db` is. */
  readonly meter: CapsMeter;
  /** The store in which the meter counts. */
  readonly counts: 'db' | 'redis';
  readonly logger?: Logger;
}

/** The parts of the process with which calls are enforced. */
export const enforcementParts = definePart<EnforcementDeps>('the parts of enforcement');

export interface SentCall {
  readonly input: EnforceRequest;
  /** The text that the call was read from. Empty where the caller has looked at its numbers. */
  readonly text: string;
  /** Finds the facts of a call whose token is not shown. */
  readonly find?: () => Promise<CallFacts>;
  /** More for its entry. */
  readonly marks?: Pick<CallData, 'via' | 'pep'>;
}

/**
 * Answers whether a call may happen now, and records the answer before it is given. A denial is an answer.
 * @throws SERVICE_UNAVAILABLE when the answer cannot be recorded; the units of the call are free again
 */
export async function enforceCall(
  deps: EnforcementDeps,
  caller: Caller,
  sent: SentCall,
  attempt = 1,
): Promise<Result> {
  const { input, text, find, marks } = sent;
  const facts = await (find ? find() : findFacts(deps, caller, input));
  const { row } = facts;
  const capsMode = input.capsMode === 'warn' && row?.capsMode === 'warn' ? 'warn' : 'enforce';
  const call: Call = { ...withExactNumbers(input, text), capsMode };
  let chargedAtMs: number | undefined;
  const meter = meterOfAgent(deps.meter, row?.agentId, (atMs) => {
    chargedAtMs = atMs;
  });
  const policies = row && policiesOn(deps, caller, row);
  const { logger } = deps;
  const decisions = deps.openDecisions?.(deps, caller);
  const result = await enforcerFor(facts, { meter, policies, decisions, logger }).enforce(call);
  const denied = policies?.denied();
  const id = result.reservation?.id ?? undefined;
  const held = row && id !== undefined ? { callId: id, agentId: row.agentId, grantId: row.id } : undefined;
  const refusal = await record(deps, caller, {
    call,
    capsMode,
    result,
    facts,
    held,
    denied,
    marks,
    chargedAtMs,
  }).catch(async (error: unknown) => {
    if (held) await giveBack(deps, caller, meter, held);
    // Its transaction began before this call, and is done again as a whole.
    if (deps.db.isTransaction && isLostRace(error)) throw error;
    deps.logger?.error({ err: error }, 'the answer to a call could not be recorded');
    throw unavailable('db');
  });
  if (refusal === null) {
    if (row && hasLostItsPin(result) && call.reserve !== false)
      await tellRenewal(deps, caller, row, call.tool);
    return result;
  }
  // The account was stopped meanwhile, or the agent or the principal ended, so the call is judged again.
  if (held) await giveBack(deps, caller, meter, held);
  if (attempt === ATTEMPTS) throw unavailable('db');
  return enforceCall(deps, caller, sent, attempt + 1);
}

/** Whether the tool is wider than the person agreed to, or new since. */
const hasLostItsPin = ({ sub_reason, warnings }: Result) =>
  sub_reason === 'manifest_changed' || warnings.some(({ code }) => code === 'manifest_changed');

/** The answer was recorded, so a failure here takes it back from nobody: the next such call tells it. */
async function tellRenewal(
  deps: EnforcementDeps,
  caller: Caller,
  row: NonNullable<CallFacts['row']>,
  tool: string,
): Promise<void> {
  await requireNewConsent(deps, caller, row, { causes: ['manifest_changed'], tools: [tool] }).catch(
    (err: unknown) => {
      if (deps.db.isTransaction) throw err;
      deps.logger?.warn({ err }, 'a consent that has to be renewed was not told of');
    },
  );
}

interface Answered {
  readonly call: Call;
  readonly capsMode: 'enforce' | 'warn';
  readonly result: Result;
  readonly facts: CallFacts;
  readonly held: HeldCall | undefined;
  readonly denied: PolicyExplanation | undefined;
  readonly marks: SentCall['marks'];
  readonly chargedAtMs: number | undefined;
}

async function record(deps: EnforcementDeps, caller: Caller, answered: Answered) {
  const { call, capsMode, result, facts, held, denied, marks, chargedAtMs } = answered;
  const { row } = facts;
  const at = deps.clock();
  const about = row ? concerning({ ...row, grantId: row.id }) : {};
  const { agentDid: _, ...subjects } = about;
  const actionHash = await actionHashOf(call, facts);
  const callData = callDataOf({ call, capsMode, result, actionHash, denied });
  const data: CallData = { ...callData, ...marks };
  const isTold = !result.allowed && call.reserve !== false;
  const records = prepareRuling(
    caller,
    {
      action: 'tool.enforce',
      status: result.allowed ? 'success' : 'blocked',
      about,
      data: { ...data, ...chargeOf(result, chargedAtMs) },
      ...(isTold && { announcement: { type: 'enforcement.denied', ...subjects, data } }),
      ...(isTold && { denial: denialKeyOf(result) }),
    },
    at,
  );
  const parties = row && { principalId: row.principalId, agentId: row.agentId };
  return writeRuling(deps.db, caller.tenant, at, { isAllowed: result.allowed, held, parties, records });
}

/** A crash before this leaves units charged for a call that nobody was allowed, never the reverse. */
async function giveBack(
  { logger }: EnforcementDeps,
  { tenant }: Caller,
  meter: CapsMeter,
  { callId }: HeldCall,
) {
  await meter.refundUnsent(tenant.developerId, callId).catch((err: unknown) => {
    logger?.warn({ err }, 'the units of a call that was not answered stay charged');
  });
}
