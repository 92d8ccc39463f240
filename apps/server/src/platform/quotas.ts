import type { Plan, Tenant } from './caller.ts';

export const plans = ['free', 'pro', 'enterprise'] as const satisfies Plan[];

export type Quota = number | 'unlimited';

/** The quota of one resource on each plan. `PLAN_<PLAN>_<RESOURCE>` sets another number. */
export type QuotaDeclaration = Readonly<Record<Plan, Quota>> & {
  /** For the operator: the things that are counted. */
  readonly describes: string;
};

export type QuotaDeclarations = Readonly<Record<string, QuotaDeclaration>>;

/**
 * The resources that plans limit. Each feature declares its own in its `<noun>.quotas.ts` and adds them to this
 * interface there. Refusals show their names, with a blank for each underscore.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the features fill it
export interface QuotaResources {}

export type QuotaResource = keyof QuotaResources;

/** Quotas by plan and resource. */
export type Quotas = Readonly<Record<Plan, Readonly<Record<QuotaResource, Quota>>>>;

/** The kinds of requests that are counted for developers. */
export type Metered = 'tokenExchanges' | 'authorizations' | 'verifications' | 'proxyCalls';

/** Counts one request. Never waits and never fails. */
export type CountUse = (tenant: Tenant, kind: Metered) => void;
