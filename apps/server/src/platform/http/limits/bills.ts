import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../caller.ts';
import type { Identity } from '../callers/credentials.ts';
import { generalRates, needsIdentity, planCount, type RateLimits, rateCountsOf } from './rate-rules.ts';
import {
  type ChargeRates,
  type ChargeResult,
  type RateCharges,
  type RateStatus,
  subjectOf,
  tighter,
} from './rates.ts';

/**
 * Charges one request. The headers show the charged count that is closest to its limit.
 * @throws RATE_LIMITED
 */
export type Charging = (bills: readonly RateCharges[]) => Promise<ChargeResult['settled']>;

export function chargingOf(charge: ChargeRates, reply: FastifyReply): Charging {
  let shown: RateStatus | undefined;
  return async (bills) => {
    const { rateStatus, settled } = await charge(bills);
    if (!rateStatus) return settled;
    shown = shown ? tighter(shown, rateStatus) : rateStatus;
    reply.headers(shown.headers);
    if (rateStatus.refusal) throw rateStatus.refusal;
    return settled;
  };
}

/** Charges only the address, for requests that prove nothing else. */
export const addressCharges = (address: string, limits: RateLimits): RateCharges => ({
  payer: 'address',
  counts: rateCountsOf('default', { address: subjectOf(address) }, limits),
});

/** Charges the address, before a credential is looked at. */
export function anonymousBills(request: FastifyRequest, limits: RateLimits): RateCharges[] {
  const rate = rateOf(request);
  if (needsIdentity(rate)) {
    // The address is not charged here, but an address with too many failures is refused.
    const { payer, counts } = addressCharges(request.ip, limits);
    return [{ payer, counts: counts.map((count) => ({ ...count, cost: 0 })) }];
  }
  const counts = rateCountsOf(rate, { address: subjectOf(request.ip) }, limits);
  return [{ payer: 'address', counts }];
}

/**
 * Charges the resource in the path, once the caller has shown a secret of that resource. A stranger who knows
 * only the id must not use up the requests of its person.
 */
export function resourceBills(request: FastifyRequest, limits: RateLimits): RateCharges[] {
  const id = resourceIdOf(request);
  const counts = id === undefined ? [] : rateCountsOf(rateOf(request), { resource: id }, limits);
  return counts.length === 0 ? [] : [{ payer: 'resource', counts }];
}

/** Charges the session of a person by the route's own rule. */
export function sessionBills(request: FastifyRequest, sessionId: string, limits: RateLimits): RateCharges[] {
  const counts = rateCountsOf(rateOf(request), { session: sessionId }, limits);
  return counts.length === 0 ? [] : [{ payer: 'session', counts }];
}

/** Charges the address for a bad credential, on routes that do not charge it for a good one. */
export function failureBills(request: FastifyRequest, limits: RateLimits): RateCharges[] {
  return needsIdentity(rateOf(request)) ? [addressCharges(request.ip, limits)] : [];
}

/** Charges the grant token that the agent showed, by its id, because one signature has several texts. */
export function tokenCharges(request: FastifyRequest, tokenId: string, limits: RateLimits): RateCharges {
  return { payer: 'token', counts: rateCountsOf(rateOf(request), { token: tokenId }, limits) };
}

/** The bill of as many requests: each count stands there as often. */
export const multipliedCharges = ({ counts, ...bill }: RateCharges, times: number): RateCharges => ({
  ...bill,
  counts: counts.flatMap((count) => Array.from({ length: times }, () => count)),
});

/** Charges the developer by the route's own rule and by the rule of the plan. */
export function developerCharges(
  request: FastifyRequest,
  { tenant: { developerId }, plan }: Identity,
  limits: RateLimits,
): RateCharges {
  const ofRoute = rateCountsOf(rateOf(request), { developer: developerId }, limits);
  return { payer: 'developer', counts: [...ofRoute, planCount(plan, developerId, limits)] };
}

/** Charges the developer by the route's own rule, and the session of the member by that of the console. */
export function memberCharges(
  request: FastifyRequest,
  { tenant: { developerId }, member }: Caller,
  limits: RateLimits,
): RateCharges[] {
  const session = member?.sessionId ?? '';
  const ofRoute = rateCountsOf(rateOf(request), { developer: developerId }, limits);
  const ofConsole = rateCountsOf(generalRates.console, { session }, limits);
  return [
    ...(ofRoute.length === 0 ? [] : [{ payer: 'developer', counts: ofRoute } as const]),
    { payer: 'session', counts: ofConsole },
  ];
}

const rateOf = (request: FastifyRequest) => request.declared.rate ?? 'default';

/** The id in the path, on routes that have one. */
export function resourceIdOf({ params }: FastifyRequest): string | undefined {
  return typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : undefined;
}
