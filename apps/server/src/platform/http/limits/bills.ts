import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Identity } from '../callers/credentials.ts';
import { budgetsOf, needsIdentity, planLimit, type RateLimits } from './rate-rules.ts';
import { type RateBill, type Spend, type Spent, type Standing, subjectOf, tighter } from './rates.ts';

/** Charges one request. The headers show the budget that will run out first of all it was charged. @throws RATE_LIMITED */
export type Charging = (bills: readonly RateBill[]) => Promise<Spent['settled']>;

export function chargingOf(spend: Spend, reply: FastifyReply): Charging {
  let shown: Standing | undefined;
  return async (bills) => {
    const { standing, settled } = await spend(bills);
    if (!standing) return settled;
    shown = shown ? tighter(shown, standing) : standing;
    reply.headers(shown.headers);
    if (standing.refusal) throw standing.refusal;
    return settled;
  };
}

/** Charges nothing but the address, for requests that prove nothing else. */
export const addressBill = (address: string, limits: RateLimits): RateBill => ({
  payer: 'address',
  budgets: budgetsOf('default', { address: subjectOf(address) }, limits),
});

/** Charges the address and the record in the path, before a credential is looked at. */
export function anonymousBills(request: FastifyRequest, limits: RateLimits): RateBill[] {
  const rate = rateOf(request);
  if (needsIdentity(rate)) {
    // The address is not charged there, but one that failed too often is refused.
    const { payer, budgets } = addressBill(request.ip, limits);
    return [{ payer, budgets: budgets.map((budget) => ({ ...budget, cost: 0 })) }];
  }
  const address = budgetsOf(rate, { address: subjectOf(request.ip) }, limits);
  const id = recordIdOf(request);
  const record = id === undefined ? [] : budgetsOf(rate, { record: id }, limits);
  return [
    { payer: 'address', budgets: address },
    { payer: 'record', budgets: record },
  ];
}

/** Charges the address for a credential that proves nothing, on routes that charge it for none that does. */
export function failureBills(request: FastifyRequest, limits: RateLimits): RateBill[] {
  return needsIdentity(rateOf(request)) ? [addressBill(request.ip, limits)] : [];
}

/** Charges the developer by the route's own limit and by that of the plan. */
export function developerBill(
  request: FastifyRequest,
  { tenant: { developerId }, plan }: Identity,
  limits: RateLimits,
): RateBill {
  const ofRoute = budgetsOf(rateOf(request), { developer: developerId }, limits);
  const subject = `developer:${developerId}`;
  const ofPlan = { rule: 'plan', subject, limit: planLimit(plan, limits), cost: 1 } as const;
  return { payer: 'developer', budgets: [...ofRoute, ofPlan] };
}

const rateOf = (request: FastifyRequest) => request.routeOptions.config.rate ?? 'default';

/** The id in the path, on routes that have one. */
export function recordIdOf({ params }: FastifyRequest): string | undefined {
  return typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : undefined;
}
