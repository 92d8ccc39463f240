import type { Call } from '@behest/protocol/enforcement/call';
import type { Denied, Result } from '@behest/protocol/enforcement/result';
import { BehestDeniedError } from '../errors.ts';
import { type CallToApprove, callToApprove, isWaiting, type UnsettledCalls } from './decisions.ts';
import { frozenCopy } from './manifest-files.ts';

/** The call of a wrapped tool, apart from its arguments. */
export interface WrappedCall extends Omit<Call, 'grantToken' | 'arguments' | 'callId'> {
  /** The token, or a function that gets one. A function is asked once more when the token has expired. */
  readonly grantToken: string | (() => string | Promise<string>);
  /**
   * The id of a logical call, or a function that makes it from the arguments, such as the number of an invoice: the same
   * for each attempt, and never for another call. A repetition under it finds its decision, also after a restart. Default:
   * an id for each attempt.
   */
  readonly callId?: string | ((args: object) => string);
  /**
   * Asks people about a call that lacks nothing but their decision. Default: the call is denied.
   *
   * @returns the decision grants with which the call is made
   * @throws where there are none yet, so that the tool does not run
   */
  readonly onWaiting?: (call: CallToApprove, denied: Denied) => Promise<readonly string[]>;
}

/** Makes a tool that asks before each call. It gets the copy of its arguments that was checked. */
export function wrappedTool<Arguments extends object, Value>(
  enforce: (call: Call) => Promise<Result>,
  tool: (args: Arguments) => Value | Promise<Value>,
  { grantToken, onWaiting, callId, ...shared }: WrappedCall,
  unsettled: UnsettledCalls,
): (args: Arguments) => Promise<Value> {
  const isRenewable = typeof grantToken === 'function';
  return async (args) => {
    const handed = frozenCopy(args);
    const own = typeof callId === 'function' ? callId(handed) : callId;
    const call = { ...shared, ...(own !== undefined && { callId: own }) };
    const attempt = async () => {
      const asked = { ...call, grantToken: isRenewable ? await grantToken() : grantToken, arguments: handed };
      return { asked, result: await enforce(asked) };
    };
    let { asked, result } = await attempt();
    if (isRenewable && !result.allowed && result.details.cause === 'expired')
      ({ asked, result } = await attempt());
    if (onWaiting && isWaiting(result)) {
      const waiting = result;
      ({ result } = await unsettled.attempt(asked, waiting, async (named) => {
        const decisionGrants = await onWaiting(callToApprove(named), waiting);
        return { result: await enforce({ ...named, decisionGrants }) };
      }));
    }
    if (!result.allowed) throw new BehestDeniedError(result);
    return tool(handed);
  };
}
