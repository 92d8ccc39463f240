import type { Tenant } from './caller.ts';
import { AppError } from './errors.ts';
import { type RateLimits, type RateRule, rateCountsOf } from './http/limits/rate-rules.ts';
import type { ChargeRates } from './http/limits/rates.ts';
import { hashOf } from './ids.ts';

/**
 * Counts a use of a credential of the vault, which only the use case knows.
 * @param most a limit below the rule's
 * @throws RATE_LIMITED
 */
export type ChargeCredential = (rule: RateRule, credentialId: string, most?: number) => Promise<void>;

/** @param limits the operator's numbers */
export function credentialCharger(charge: ChargeRates, limits: RateLimits): ChargeCredential {
  return async (rule, credential, most = Number.POSITIVE_INFINITY) => {
    const counts = rateCountsOf(rule, { credential }, limits);
    const bounded = counts.map((count) => ({ ...count, limit: Math.min(count.limit, most) }));
    const { rateStatus } = await charge([{ payer: 'credential', counts: bounded }]);
    if (rateStatus?.refusal) throw rateStatus.refusal;
  };
}

/**
 * Counts a request of an OAuth client, which only the use case knows, and of its developer where the rule has one.
 * @throws RATE_LIMITED
 */
export type ChargeClient = (
  rule: RateRule,
  subjects: { readonly client?: string; readonly developer?: string },
) => Promise<void>;

/** @param limits the operator's numbers */
export function clientCharger(charge: ChargeRates, limits: RateLimits): ChargeClient {
  return async (rule, { client, developer }) => {
    const bills = [
      ...(client === undefined
        ? []
        : [{ payer: 'client', counts: rateCountsOf(rule, { client }, limits) } as const]),
      ...(developer && rule.counts.some(({ by }) => by === 'developer')
        ? [{ payer: 'developer', counts: rateCountsOf(rule, { developer }, limits) } as const]
        : []),
    ] as const;
    if (bills.length === 0) return;
    const { rateStatus } = await charge(bills);
    if (rateStatus?.refusal) throw rateStatus.refusal;
  };
}

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

/** Counts a mail or message. @returns the seconds until there is room for it, or undefined when it may be sent now */
export async function secondsUntilRoom(
  chargeRecipient: ChargeRecipient,
  rules: readonly RateRule[],
  recipient: string,
  tenant: Tenant,
): Promise<number | undefined> {
  try {
    await chargeRecipient(rules, recipient, tenant);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'RATE_LIMITED') throw error;
    return Number(Object(error.details).retryAfter);
  }
}
