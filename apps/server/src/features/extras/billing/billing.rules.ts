import { badField } from '../../../platform/errors.ts';
import type { Subscription } from './billing.schema.ts';

export type Plan = Subscription['plan'];
export type Status = Subscription['status'];

/** A subscription as the provider tells it. */
export interface BillingEvent {
  readonly id: string;
  readonly customerId: string;
  readonly providerStatus: string;
  readonly priceId: string | undefined;
  readonly currentPeriodEnd: Date | null;
  readonly cancelAtPeriodEnd: boolean;
}

const STATUSES: Readonly<Record<string, Status>> = {
  active: 'active',
  trialing: 'active',
  past_due: 'past_due',
  unpaid: 'past_due',
  incomplete: 'past_due',
  paused: 'past_due',
  canceled: 'canceled',
  incomplete_expired: 'canceled',
};

export const statusOf = ({ providerStatus }: BillingEvent): Status => STATUSES[providerStatus] ?? 'past_due';

/** A subscription whose first payment never came gave no access, so there is none to leave for a while. */
const hadAccess = ({ providerStatus }: BillingEvent): boolean => providerStatus !== 'incomplete';

interface SubscriptionState {
  readonly plan: Plan;
  readonly status: Status;
  readonly graceEndsAt: Date | null;
}

export function effectivePlan({ plan, status, graceEndsAt }: SubscriptionState, now: Date): Plan {
  if (status === 'active') return plan;
  return status === 'past_due' && graceEndsAt !== null && now < graceEndsAt ? plan : 'free';
}

const DAY = 86_400_000;

/** The grace begins with the first failure, and later ones do not prolong it. */
export function graceEnd(
  told: BillingEvent,
  before: SubscriptionState | undefined,
  { at, graceDays }: { readonly at: Date; readonly graceDays: number },
): Date | null {
  if (statusOf(told) !== 'past_due') return null;
  if (before?.graceEndsAt) return before.graceEndsAt;
  return new Date(at.getTime() + (hadAccess(told) ? graceDays * DAY : 0));
}

/** @throws BAD_REQUEST */
export function mustBeReturnUrl(field: string, text: string, isProduction: boolean): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && !isProduction);
  if (!url || !isAllowed || url.username || url.password) {
    throw badField(field, 'format', 'Send an absolute `https` URL without user name or password.');
  }
}

const TOLERANCE_SECONDS = 300;

/** Whether a signature's time is near the service's own, on either side. @see https://docs.stripe.com/webhooks */
export function isTimely(header: string, now: Date): boolean {
  const at = /(?:^|,)t=(\d{1,12})(?:,|$)/.exec(header)?.[1];
  return at !== undefined && Math.abs(now.getTime() / 1000 - Number(at)) <= TOLERANCE_SECONDS;
}
