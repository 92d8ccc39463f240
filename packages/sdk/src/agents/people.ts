import type { Denied } from '@behest/protocol/enforcement/result';
import type { Behest } from '../behest.ts';
import type { CallToApprove, Decision, Waiting } from '../client/decisions.ts';
import type { WrappedCall } from '../client/wrapped-tool.ts';
import { BehestDeniedError } from '../errors.ts';

/** The calls of an agent's tools, apart from what each call says itself. */
export type AgentCalls = Omit<WrappedCall, 'tool' | 'onWaiting' | 'decisionGrants' | 'callId'>;

/** The page on which people decide, for the program to show. It gives no rights. */
export type Pending = Pick<Decision, 'decisionId' | 'url'>;

export const pendingOf = ({ decisionId, url }: Decision): Pending => ({ decisionId, url });

/** Asks people, and says in the denial where they decide. The same call, made after that, runs. */
export const askPeople =
  (behest: Behest): NonNullable<WrappedCall['onWaiting']> =>
  async (call, denied) => {
    const { decision, decisionGrants } = await asked(denied, () => behest.approvals.resume(call));
    if (decisionGrants) return decisionGrants;
    const reason = `A person has to approve this call at ${decision.url}. Make the same call again after that.`;
    throw new BehestDeniedError({
      ...denied,
      reason,
      details: { ...denied.details, ...pendingOf(decision) },
    });
  };

/**
 * Reads what became of a request that an earlier run made, so that people who said no are not asked twice.
 *
 * @throws BehestDeniedError when they said no, or when the request ended otherwise
 */
export function answerOf(
  behest: Behest,
  decisionId: string,
  { call, denied }: { readonly call: CallToApprove; readonly denied: Denied },
): Promise<Waiting> {
  return asked(denied, async () => {
    const decision = await behest.approvals.get(decisionId);
    if (decision.status === 'pending') return { decision };
    if (decision.status === 'approved')
      return { decision, decisionGrants: await behest.approvals.grants(decisionId, call.grantToken) };
    const reason = `The request to approve this call is ${decision.status}.`;
    throw new BehestDeniedError({
      ...denied,
      reason,
      details: { ...denied.details, ...pendingOf(decision) },
    });
  });
}

/** Where people cannot be asked, the denial stands. */
export async function asked<Value>(denied: Denied, ask: () => Promise<Value>): Promise<Value> {
  return ask().catch((error: unknown) => {
    throw error instanceof BehestDeniedError ? error : new BehestDeniedError(denied);
  });
}
