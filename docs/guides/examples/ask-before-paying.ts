import type { Behest } from '@behest/sdk';

/** A payment that an agent wants to make. */
export interface Payment {
  readonly grantToken: string;
  /** One id for one payment, which its repetitions share. */
  readonly callId: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly summary: string;
}

/**
 * Makes a payment once a person has approved it. Call it again with the same payment until it is made: it asks people at
 * the first call, and finds their answer later. A repetition after the payment is sent once more, under the same id.
 * @returns the page on which people decide, or undefined once the payment is made
 * @throws Error when people refused, or with the reason of any other denial
 */
export async function payOnceApproved(
  behest: Behest,
  { summary, ...payment }: Payment,
  pay: (args: Payment['arguments'], callId: string) => Promise<void>,
): Promise<string | undefined> {
  const call = { connector: 'acme_bank', tool: 'pay', ...payment };
  const { decision, decisionGrants } = await behest.approvals.resume({ ...call, summary });
  if (decision.status === 'pending') return decision.url;
  if (!decisionGrants) throw new Error(`The request to approve this payment is ${decision.status}.`);
  const result = await behest.enforce({ ...call, decisionGrants });
  if (!result.allowed) throw new Error(result.reason);
  await pay(payment.arguments, payment.callId);
  return undefined;
}
