import type { Call } from '@behest/protocol/enforcement/call';
import type { Denied, Result } from '@behest/protocol/enforcement/result';
import type { Behest } from '../behest.ts';
import { callToApprove, type Decision } from '../client/decisions.ts';
import { elicitConnection } from './elicit-connection.ts';
import type { ToolCall } from './messages.ts';

interface Resumed {
  /** Undefined where people cannot be asked, so that the denial stands. */
  readonly decision?: Decision;
  /** The answer to the call with what people approved. */
  readonly result?: Result;
}

/** Asks people about a call, or makes it with their answer. */
export const resumed = (behest: Behest, call: Call, denied: Denied): Promise<Resumed> =>
  behest.approvals.unsettled.attempt(call, denied, async (named): Promise<Resumed> => {
    const waiting = await behest.approvals.resume(callToApprove(named)).catch(() => undefined);
    if (!waiting?.decisionGrants) return waiting ? { decision: waiting.decision } : {};
    return { result: await behest.enforce({ ...named, decisionGrants: waiting.decisionGrants }) };
  });

interface PageRequest {
  readonly revision: string;
  readonly key: Uint8Array;
}

/**
 * Asks the client to show its person the page on which the call is approved. The person need not be the approver: the page
 * asks each who opens it for a passkey.
 */
export function elicited(
  { decisionId, url, principalId }: Decision,
  call: ToolCall,
  { revision, key }: PageRequest,
) {
  const session = { id: decisionId, connectUrl: url, service: call.name, principalId };
  const message = `A person has to approve this call of ${call.name}. Make the same call again after that.`;
  const { result, error } = elicitConnection(session, { revision, key, call, message });
  return error ? { error } : { result };
}
