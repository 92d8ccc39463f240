import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { findCustomer, findSubscription, insertCustomer } from './billing.repo.ts';
import { effectivePlan, mustBeReturnUrl } from './billing.rules.ts';
import type { CheckoutRequest, PortalRequest, Subscription } from './billing.schema.ts';
import type { BillingProvider } from './provider.ts';

export interface BillingDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly isProduction: boolean;
  /** Undefined where the operator takes no payments. */
  readonly provider: BillingProvider | undefined;
  readonly logger?: Logger | undefined;
}

export async function getSubscription({ db, clock }: BillingDeps, caller: Caller): Promise<Subscription> {
  const row = await findSubscription(db, caller.tenant);
  if (!row) {
    const none = { currentPeriodEnd: null, cancelAtPeriodEnd: false, graceEndsAt: null };
    return { plan: caller.plan, status: 'active', effectivePlan: caller.plan, ...none };
  }
  const effective = effectivePlan(row, clock());
  return {
    plan: row.status === 'canceled' ? 'free' : row.plan,
    status: row.status,
    currentPeriodEnd: row.currentPeriodEnd?.toISOString() ?? null,
    effectivePlan: effective,
    cancelAtPeriodEnd: row.cancelAtPeriodEnd,
    graceEndsAt: row.graceEndsAt?.toISOString() ?? null,
  };
}

/** @throws BAD_REQUEST, CONFLICT, UPSTREAM_ERROR, NOT_CONFIGURED */
export async function createCheckout(deps: BillingDeps, caller: Caller, input: CheckoutRequest) {
  const provider = mustBeConfigured(deps);
  mustBeReturnUrl('successUrl', input.successUrl, deps.isProduction);
  mustBeReturnUrl('cancelUrl', input.cancelUrl, deps.isProduction);
  const current = await findSubscription(deps.db, caller.tenant);
  if (current && current.status !== 'canceled') {
    throw new AppError('CONFLICT', 'There is a subscription already; change it in the portal.');
  }
  const customerId = await customerOf(deps, provider, caller);
  const { requestId } = caller;
  const checkout = { ...input, ...caller.tenant, customerId, requestId };
  const checkoutUrl = await calling(deps, () => provider.createCheckout(checkout));
  await inTransaction(deps.db, (tx) =>
    recordEntry(tx, caller, { action: 'billing.checkout_created', data: { plan: input.plan } }, deps.clock()),
  );
  return { checkoutUrl };
}

/** @throws BAD_REQUEST also without a customer, UPSTREAM_ERROR, NOT_CONFIGURED */
export async function createPortal(deps: BillingDeps, caller: Caller, { returnUrl }: PortalRequest) {
  const provider = mustBeConfigured(deps);
  mustBeReturnUrl('returnUrl', returnUrl, deps.isProduction);
  const customerId = await findCustomer(deps.db, caller.tenant);
  if (customerId === undefined) {
    throw new AppError('BAD_REQUEST', 'There is no subscription yet; begin with a checkout.');
  }
  const portalUrl = await calling(deps, () => provider.createPortal(customerId, returnUrl));
  await inTransaction(deps.db, (tx) =>
    recordEntry(tx, caller, { action: 'billing.portal_created', data: {} }, deps.clock()),
  );
  return { portalUrl };
}

async function customerOf(deps: BillingDeps, provider: BillingProvider, { tenant }: Caller): Promise<string> {
  const known = await findCustomer(deps.db, tenant);
  if (known !== undefined) return known;
  const made = await calling(deps, () => provider.createCustomer(tenant.developerId));
  await inTransaction(deps.db, (tx) => insertCustomer(tx, tenant, made));
  return made;
}

/** @throws NOT_CONFIGURED */
export function mustBeConfigured({ provider }: Pick<BillingDeps, 'provider'>): BillingProvider {
  if (provider) return provider;
  const message = 'This service takes no payments; ask its operator for another plan.';
  throw new AppError('NOT_CONFIGURED', message, { setting: 'STRIPE_SECRET_KEY' });
}

/** The provider's own text stays in the log. @throws UPSTREAM_ERROR */
async function calling<Answer>({ logger }: BillingDeps, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (err) {
    logger?.error({ err }, 'the payment provider refused or failed a call');
    const message = 'The payment provider did not answer as it should; try again later.';
    throw new AppError('UPSTREAM_ERROR', message, { service: 'stripe' });
  }
}
