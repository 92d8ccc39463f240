import type { Call } from '@behest/protocol/enforcement/call';
import type { Behest } from '../behest.ts';
import { callToApprove, type Decision, type Waiting } from '../client/decisions.ts';
import { elicitConnection } from './elicit-connection.ts';
import type { ToolCall } from './messages.ts';

/** @returns undefined where people cannot be asked, so that the denial stands */
export async function resumed(behest: Behest, call: Call): Promise<Waiting | undefined> {
  return behest.approvals.resume(callToApprove(call)).catch(() => undefined);
}

interface Asking {
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
  { revision, key }: Asking,
) {
  const session = { id: decisionId, connectUrl: url, service: call.name, principalId };
  const message = `A person has to approve this call of ${call.name}. Make the same call again after that.`;
  const { result, error } = elicitConnection(session, { revision, key, call, message });
  return error ? { error } : { result };
}
