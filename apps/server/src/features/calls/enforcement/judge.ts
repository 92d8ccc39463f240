import type { Call } from '@behest/protocol/enforcement/call';
import type { Result } from '@behest/protocol/enforcement/result';
import type { ServiceContext } from '../../../feature.ts';
import { concerning } from '../../../platform/acts.ts';
import type { Caller, GrantHolder } from '../../../platform/caller.ts';
import { enforceCall, enforcementParts } from './enforce.ts';
import type { EnforceRequest } from './enforcement.schema.ts';
import { enforcerFor, policiesOn } from './enforcer.ts';
import { type CallFacts, findFacts } from './facts.ts';
import { meterOfAgent } from './meter.ts';
import { withExactNumbers } from './numbers.rules.ts';
import { giveBack } from './usage.ts';

export interface Judged {
  readonly facts: CallFacts;
  readonly call: Call;
  readonly result: Result;
}

/** Judges a call that nobody makes yet: nothing is charged, held or recorded. */
export type JudgeCall = (
  deps: Pick<ServiceContext, 'db'>,
  caller: Caller,
  input: Omit<EnforceRequest, 'reserve'>,
  text: string,
) => Promise<Judged>;

/** Finds token, grant and manifest of a call, as they are now. */
export type FindCallFacts = (
  deps: Pick<ServiceContext, 'db'>,
  caller: Caller,
  asked: { readonly grantToken: string; readonly connector: string },
) => Promise<CallFacts>;

/** For features that ask about calls before they are made. */
export function callJudge(context: ServiceContext) {
  const own = context.take(enforcementParts);
  const { meter } = own;
  const findCallFacts: FindCallFacts = ({ db }, caller, asked) => findFacts({ ...own, db }, caller, asked);
  const judgeCall: JudgeCall = async ({ db }, caller, input, text) => {
    const facts = await findCallFacts({ db }, caller, input);
    const { row } = facts;
    const call: Call = { ...withExactNumbers(input, text), reserve: false };
    const policies = row && policiesOn({ ...own, db }, caller, row);
    const asking = { meter: meterOfAgent(meter, row?.agentId), policies, logger: context.logger };
    return { facts, call, result: await enforcerFor(facts, asking).enforce(call) };
  };
  return { judgeCall, findCallFacts };
}

/** Enforces calls that the service itself makes for an agent. */
export interface CallGate {
  /**
   * Answers whether the call may happen now, as `POST /v1/enforce` does, and records the answer.
   * @param text the text that the arguments were read from
   * @throws SERVICE_UNAVAILABLE when the answer cannot be recorded
   */
  enforce(holder: GrantHolder, call: EnforceRequest, text: string): Promise<Result>;
  /** The call leaves the process, so its units stay charged. A failure is logged. */
  noteSent(holder: GrantHolder, callId: string): Promise<void>;
  /** The call never left the process, so its units are free again. A failure is logged. */
  giveBack(holder: GrantHolder, callId: string): Promise<void>;
}

/** For features that pass calls on. */
export function callGate(context: ServiceContext): CallGate {
  const deps = context.take(enforcementParts);
  const { meter } = deps;
  const settle = async (settled: Promise<unknown>, message: string) => {
    await settled.catch((err: unknown) => context.logger?.warn({ err }, message));
  };
  return {
    enforce: (holder, input, text) => enforceCall(deps, holder, { input, text }),
    noteSent({ agentId, tenant }, callId) {
      const noted = meterOfAgent(meter, agentId).sent(tenant.developerId, callId);
      return settle(noted, 'the meter was not told that a call was sent');
    },
    giveBack(holder, callId) {
      const call = { callId, agentId: holder.agentId, about: concerning(holder) };
      return settle(giveBack(deps, holder, call), 'the units of a call that was not sent stay charged');
    },
  };
}
