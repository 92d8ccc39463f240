import type { Call } from '@behest/protocol/enforcement/call';
import type { Denied, Result } from '@behest/protocol/enforcement/result';
import { BehestDeniedError } from '../errors.ts';
import { type CallToApprove, callToApprove, isWaiting } from './decisions.ts';
import { frozenCopy } from './tool-values.ts';

/** The call of a wrapped tool, apart from its arguments. */
export interface WrappedCall extends Omit<Call, 'grantToken' | 'arguments'> {
  /** The token, or a function that gets one. A function is asked once more when the token has expired. */
  readonly grantToken: string | (() => string | Promise<string>);
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
  { grantToken, onWaiting, ...call }: WrappedCall,
): (args: Arguments) => Promise<Value> {
  const isRenewable = typeof grantToken === 'function';
  return async (args) => {
    const handed = frozenCopy(args);
    const attempt = async () => {
      const asked = { ...call, grantToken: isRenewable ? await grantToken() : grantToken, arguments: handed };
      return { asked, result: await enforce(asked) };
    };
    let { asked, result } = await attempt();
    if (isRenewable && !result.allowed && result.details.cause === 'expired')
      ({ asked, result } = await attempt());
    if (onWaiting && isWaiting(result)) {
      const decisionGrants = await onWaiting(callToApprove(asked), result);
      result = await enforce({ ...asked, decisionGrants });
    }
    if (!result.allowed) throw new BehestDeniedError(result);
    return tool(handed);
  };
}
