import type { Tenant } from '../caller.ts';
import { type RateLimits, type RateRule, rateCountsOf } from '../http/limits/rate-rules.ts';
import type { ChargeRates } from '../http/limits/rates.ts';
import { hashOf } from '../ids.ts';

/**
 * Counts a mail or message, by its recipient, which only the use case knows, and by the account that makes the service speak.
 * @throws RATE_LIMITED
 */
export type ChargeRecipient = (
  rules: readonly RateRule[],
  recipient: string,
  tenant: Tenant,
) => Promise<void>;

/**
 * The counts are by a hash, so a reader of the store finds no address. An account that has no room takes none from the
 * recipient, whom other accounts share.
 * @param limits the operator's numbers
 */
export function recipientCharger(charge: ChargeRates, limits: RateLimits): ChargeRecipient {
  return async (rules, address, { developerId }) => {
    const recipient = hashOf(address.toLowerCase()).toString('base64url');
    const bills = [
      { payer: 'developer', counts: rateCountsOf(rules, { developer: developerId }, limits) },
      { payer: 'recipient', counts: rateCountsOf(rules, { recipient }, limits) },
    ] as const;
    const { rateStatus } = await charge(bills.filter(({ counts }) => counts.length > 0));
    if (rateStatus?.refusal) throw rateStatus.refusal;
  };
}
