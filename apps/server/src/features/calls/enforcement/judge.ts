import type { Call } from '@behest/protocol/enforcement/call';
import type { Result } from '@behest/protocol/enforcement/result';
import type { House } from '../../../feature.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { NewCall } from './enforcement.schema.ts';
import { enforcementParts } from './enforcement.ts';
import { enforcerFor } from './enforcer.ts';
import { type CallFacts, findFacts } from './facts.ts';
import { meterOfAgent } from './meter.ts';
import { withExactNumbers } from './numbers.rules.ts';
import { policiesOn } from './policies.ts';

export interface Judged {
  readonly facts: CallFacts;
  readonly call: Call;
  readonly result: Result;
}

/** Judges a call that nobody makes yet: nothing is charged, held or recorded. */
export type JudgeCall = (
  deps: Pick<House, 'db'>,
  caller: Caller,
  input: Omit<NewCall, 'reserve'>,
  text: string,
) => Promise<Judged>;

/** Finds token, grant and manifest of a call, as they are now. */
export type FindCallFacts = (
  deps: Pick<House, 'db'>,
  caller: Caller,
  asked: { readonly grantToken: string; readonly connector: string },
) => Promise<CallFacts>;

/** For features that ask about calls before they are made. */
export function callJudge(house: House) {
  const own = house.take(enforcementParts);
  const { meter } = own;
  const findCallFacts: FindCallFacts = ({ db }, caller, asked) => findFacts({ ...own, db }, caller, asked);
  const judgeCall: JudgeCall = async ({ db }, caller, input, text) => {
    const facts = await findCallFacts({ db }, caller, input);
    const { row } = facts;
    const call: Call = { ...withExactNumbers(input, text), reserve: false };
    const policies = row && policiesOn({ ...own, db }, caller, row);
    const asking = { meter: meterOfAgent(meter, row?.agentId), policies, logger: house.logger };
    return { facts, call, result: await enforcerFor(facts, asking).enforce(call) };
  };
  return { judgeCall, findCallFacts };
}
