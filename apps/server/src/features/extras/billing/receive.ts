import { type PublishChange, systemCaller, type Tenant } from '../../../platform/caller.ts';
import { afterCommit, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { lockAccount, setPlan } from '../../accounts/developers/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  findPayerAcrossTenants,
  findSubscription,
  insertEvent,
  listGraceOverAcrossTenants,
  putSubscription,
} from './billing.repo.ts';
import {
  type BillingEvent,
  effectivePlan,
  graceEnd,
  isTimely,
  type Plan,
  type Status,
  statusOf,
} from './billing.rules.ts';
import type { BillingProvider, ToldEvent } from './provider.ts';
import { type BillingDeps, mustBeConfigured } from './subscribe.ts';

export interface EventDeps extends BillingDeps {
  readonly publishChange: PublishChange;
  readonly graceDays: number;
  /** The plans by the ids of their prices. */
  readonly planOfPrice: ReadonlyMap<string, Plan>;
}

const MAX_TURNS = 5;

/**
 * Applies what the provider tells. Its events may come twice, late and in any order: the subscription
 * counts as it is now, so the service reads it.
 * @throws NOT_CONFIGURED, BAD_REQUEST for bytes that the provider did not sign; any other failure makes it send again
 */
export async function receiveEvent(deps: EventDeps, bytes: Buffer, signature: string): Promise<void> {
  const provider = mustBeConfigured(deps);
  const event = await verified(deps, provider, bytes, signature);
  if (event?.subscriptionId === undefined) return;
  for (let turn = 1; turn <= MAX_TURNS; turn += 1) {
    if (await takeOver(deps, provider, event, event.subscriptionId)) return;
  }
  throw new Error('Other events change the subscription all the time.'); // the provider sends this one again
}

/** @returns false when another event changed the subscription since the provider was asked */
async function takeOver(deps: EventDeps, provider: BillingProvider, event: ToldEvent, id: string) {
  const payer = await findPayerAcrossTenants(deps.db, event.customerId);
  if (!payer) {
    deps.logger?.error({ event: event.id }, 'a subscription is of no developer’s customer');
    return true;
  }
  const tenant = { developerId: payer.developerId };
  const seen = await findSubscription(deps.db, tenant);
  const { told, isFresh } = await currentOf(provider, event, id);
  const plan = told.priceId === undefined ? undefined : deps.planOfPrice.get(told.priceId);
  if (plan === undefined) {
    deps.logger?.error({ event: event.id, price: told.priceId }, 'a subscription has an unknown price');
    return true;
  }
  const change = { event, told, plan, isFresh, seen: seen?.version };
  return inTransaction(deps.db, (tx) => apply(tx, deps, tenant, change));
}

async function verified(
  { clock, logger }: EventDeps,
  provider: BillingProvider,
  bytes: Buffer,
  signature: string,
) {
  const now = clock();
  try {
    if (isTimely(signature, now)) return await provider.readEvent(bytes, signature, now);
  } catch (err) {
    logger?.warn({ err }, 'an event for billing was not signed by the provider');
  }
  throw new AppError('BAD_REQUEST', 'The signature does not fit the body.');
}

/** When the provider does not answer, the event's own state may serve, in the order of the events. */
async function currentOf(provider: BillingProvider, event: ToldEvent, id: string) {
  try {
    return { told: await provider.getSubscription(id), isFresh: true };
  } catch (error) {
    if (event.subscription) return { told: event.subscription, isFresh: false };
    throw new Error('The subscription cannot be read.', { cause: error }); // its status is not the answer's
  }
}

interface Change {
  readonly event: ToldEvent;
  readonly told: BillingEvent;
  readonly plan: Plan;
  readonly isFresh: boolean;
  /** The version of what was stored when the provider was asked. */
  readonly seen: number | undefined;
}

async function apply(tx: Tx, deps: EventDeps, tenant: Tenant, change: Change): Promise<boolean> {
  const { event, told, plan, isFresh, seen } = change;
  const at = deps.clock();
  const account = await lockAccount(tx, tenant);
  if (!account) return true;
  const before = await findSubscription(tx, tenant);
  if (before?.version !== seen) return false;
  if (!(await insertEvent(tx, tenant, event.id, at))) return true;
  const isLate = !isFresh && before !== undefined && event.createdAt < before.toldAt;
  const status = statusOf(told);
  // The end of an earlier subscription says nothing about the one that came after it.
  const isOther = before !== undefined && before.subscriptionId !== told.id && before.status !== 'canceled';
  if (isLate || (isOther && status !== 'active')) return true;

  const same = before?.subscriptionId === told.id ? before : undefined;
  const graceEndsAt = graceEnd(told, same, { at, graceDays: deps.graceDays });
  const effective = effectivePlan({ plan, status, graceEndsAt }, at);
  const toldAt = before && before.toldAt > event.createdAt ? before.toldAt : event.createdAt;
  await putSubscription(tx, tenant, {
    subscriptionId: told.id,
    plan,
    effectivePlan: effective,
    status,
    currentPeriodEnd: told.currentPeriodEnd,
    cancelAtPeriodEnd: told.cancelAtPeriodEnd,
    graceEndsAt,
    toldAt,
    updatedAt: at,
  });
  const previous = { plan: account.plan, status: before?.status ?? ('active' as const) };
  const now = { plan: effective, status };
  await announce(tx, deps, { tenant, mode: account.mode, previous, now, told, at });
  return true;
}

interface Announced {
  readonly tenant: Tenant;
  readonly mode: 'live' | 'sandbox';
  readonly previous: { readonly plan: Plan; readonly status: Status };
  readonly now: { readonly plan: Plan; readonly status: Status };
  readonly told: Pick<BillingEvent, 'currentPeriodEnd'>;
  readonly at: Date;
}

/** Every instance takes the new plan at its next request, because the version of the developer changes. */
async function announce(
  tx: Tx,
  { publishChange }: Pick<EventDeps, 'publishChange'>,
  { tenant, mode, previous, now, told, at }: Announced,
): Promise<void> {
  if (previous.plan === now.plan && previous.status === now.status) return;
  if (previous.plan !== now.plan) await setPlan(tx, tenant, now.plan, at);
  const data = {
    ...now,
    previousPlan: previous.plan,
    previousStatus: previous.status,
    currentPeriodEnd: told.currentPeriodEnd?.toISOString() ?? null,
  };
  const caller = systemCaller(tenant, { mode, plan: now.plan }, 'billing');
  await recordActs(tx, caller, [{ type: 'billing.plan_changed', data }], at);
  await afterCommit(tx, () => publishChange(tenant));
}

const BATCH = 100;

/** Takes the paid plan from developers whose grace has ended. @returns 0 when the last are done */
export async function endGraces(deps: Pick<EventDeps, 'db' | 'clock' | 'publishChange'>): Promise<number> {
  const at = deps.clock();
  const due = await listGraceOverAcrossTenants(deps.db, at, BATCH);
  for (const { developerId } of due) {
    const tenant = { developerId };
    await inTransaction(deps.db, async (tx) => {
      const account = await lockAccount(tx, tenant);
      const row = await findSubscription(tx, tenant);
      if (!row || row.effectivePlan === 'free' || effectivePlan(row, at) !== 'free') return;
      const { developerId: _, version: __, ...rest } = row;
      await putSubscription(tx, tenant, { ...rest, effectivePlan: 'free', updatedAt: at });
      if (!account) return;
      const { plan, mode } = account;
      const previous = { plan, status: row.status };
      const now = { plan: 'free', status: row.status } as const;
      await announce(tx, deps, { tenant, mode, previous, now, told: row, at });
    });
  }
  return due.length < BATCH ? 0 : due.length;
}
