import type { Denied } from '@behest/protocol/enforcement/result';
import type { Behest } from '../behest.ts';
import { type CallToApprove, type Decision, hasGrants, type Waiting } from '../client/decisions.ts';
import type { WrappedCall } from '../client/wrapped-tool.ts';
import { BehestDeniedError } from '../errors.ts';

/** The calls of an agent's tools, apart from what each call says itself. */
export type AgentCalls = Omit<WrappedCall, 'tool' | 'onWaiting' | 'decisionGrants'>;

/** The page on which people decide, for the program to show. It gives no rights. */
export type Pending = Pick<Decision, 'decisionId' | 'url'>;

export const pendingOf = ({ decisionId, url }: Decision): Pending => ({ decisionId, url });

/** Asks people, and says in the denial where they decide, or what became of the request. */
export const askPeople =
  (behest: Behest): NonNullable<WrappedCall['onWaiting']> =>
  async (call, denied) => {
    const { decision, decisionGrants } = await asked(denied, () => behest.approvals.resume(call));
    if (decisionGrants) return decisionGrants;
    throw undecided(decision, denied);
  };

/** The denial of a call that people have not approved. */
export function undecided(decision: Decision, denied: Denied): BehestDeniedError {
  const details = { ...denied.details, ...pendingOf(decision), status: decision.status };
  return new BehestDeniedError({ ...denied, reason: sentenceOf(decision), details });
}

/** What the model reads of a request that gave no grants. */
export function sentenceOf({ status, url, expiresAt }: Decision): string {
  if (status === 'pending')
    return `A person has to approve this call at ${url}. Make the same call again after that.`;
  if (status === 'denied')
    return `A person refused this call. People are not asked again before ${expiresAt}.`;
  return `The request to approve this call is ${status}.`;
}

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
    if (!hasGrants(decision)) throw undecided(decision, denied);
    return { decision, decisionGrants: await behest.approvals.grants(decisionId, call.grantToken) };
  });
}

/** Where people cannot be asked, the denial stands. */
export async function asked<Value>(denied: Denied, ask: () => Promise<Value>): Promise<Value> {
  return ask().catch((error: unknown) => {
    throw error instanceof BehestDeniedError ? error : new BehestDeniedError(denied);
  });
}
