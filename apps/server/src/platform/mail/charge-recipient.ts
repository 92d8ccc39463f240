import { type RateLimits, type RateRule, rateCountsOf } from '../http/limits/rate-rules.ts';
import type { ChargeRates } from '../http/limits/rates.ts';
import { hashOf } from '../ids.ts';

/**
 * Counts a mail to an address, which only the use case knows.
 * @throws RATE_LIMITED
 */
export type ChargeRecipient = (rule: RateRule, address: string) => Promise<void>;

/** The counts are by a hash, so a reader of the store finds no address. @param limits the operator's numbers */
export function recipientCharger(charge: ChargeRates, limits: RateLimits): ChargeRecipient {
  return async (rule, address) => {
    const recipient = hashOf(address.toLowerCase()).toString('base64url');
    const counts = rateCountsOf(rule, { recipient }, limits);
    const { rateStatus } = await charge([{ payer: 'recipient', counts }]);
    if (rateStatus?.refusal) throw rateStatus.refusal;
  };
}
