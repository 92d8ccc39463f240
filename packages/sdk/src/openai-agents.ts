import { type AgentCalls, askPeople } from './agents/people.ts';
import type { Behest } from './behest.ts';
import { callToApprove, type Decision, isWaiting } from './client/decisions.ts';
import { BehestDeniedError } from './errors.ts';

export interface OpenAiCalls extends AgentCalls {
  /** Hears of the page on which people decide about a call, before the run is interrupted for it. */
  readonly onDecision?: (decision: Decision, callId: string | undefined) => void;
}

/**
 * Makes the options of a tool of the OpenAI Agents SDK ask before each call. The model reads a denial as the answer of the
 * tool, because the SDK hides errors from it. A run is interrupted where a person has to
 * decide: when they have, approve the interruption and resume the run. An approval of the run alone allows nothing.
 *
 * @example
 * ```ts
 * const pay = tool(protectTool(behest, { name: 'pay', description, parameters, execute }, { connector: 'bank', grantToken }));
 * const agent = new Agent({ name: 'Payments', tools: [pay] });
 * ```
 */
export function protectTool<
  Options extends { readonly name: string; readonly execute: (...given: never[]) => unknown },
>(behest: Behest, options: Options, { onDecision, ...calls }: OpenAiCalls) {
  const { name: tool, execute } = options;
  const { grantToken, callId: callIdOf, ...call } = { ...calls, tool };
  const onWaiting = askPeople(behest);
  return {
    ...options,
    execute: (input: unknown, ...rest: never[]) =>
      behest
        .wrapTool((args: object) => execute(args as never, ...rest), {
          ...{ ...call, grantToken, onWaiting },
          ...(callIdOf !== undefined && { callId: callIdOf }),
        })(Object(input))
        .catch((error: unknown) => {
          if (error instanceof BehestDeniedError) return `${error.message} (${error.reasonCode})`;
          throw error;
        }),
    /** Runs before the tool does. An error here is a denial there. */
    async needsApproval(_: unknown, input: unknown, callId?: string): Promise<boolean> {
      const token = typeof grantToken === 'function' ? await grantToken() : grantToken;
      const own = typeof callIdOf === 'function' ? callIdOf(Object(input)) : callIdOf;
      const named = { ...call, ...(own !== undefined && { callId: own }) };
      const asked = { ...named, grantToken: token, arguments: Object(input), reserve: false };
      const denied = await behest.enforce(asked);
      if (!isWaiting(denied)) return false;
      const id = behest.approvals.unsettled.idOf(asked, denied);
      const told = callToApprove({ ...asked, ...(id !== undefined && { callId: id }) });
      const found = await behest.approvals.resume(told).catch(() => undefined);
      if (found?.decision.status !== 'pending') return false; // `execute` gets the grants, or tells the model why not
      onDecision?.(found.decision, callId);
      return true;
    },
  } as Options & { needsApproval(_: unknown, input: unknown, callId?: string): Promise<boolean> };
}
