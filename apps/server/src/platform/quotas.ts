import type { Plan } from './caller.ts';

export const plans = ['free', 'pro', 'enterprise'] as const satisfies Plan[];

export type Quota = number | 'unlimited';

/** What each plan includes of one resource. `PLAN_<PLAN>_<RESOURCE>` sets another number. */
export type QuotaDeclaration = Readonly<Record<Plan, Quota>> & {
  /** For the operator: what is counted. */
  readonly describes: string;
};

export type QuotaDeclarations = Readonly<Record<string, QuotaDeclaration>>;

/**
 * The resources that plans limit. Each feature declares its own in its `<noun>.quotas.ts` and adds them to this
 * interface there. Their names stand in refusals, with a blank for each underscore.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the features fill it
export interface QuotaResources {}

export type QuotaResource = keyof QuotaResources;

/** What is included, by plan and resource. */
export type Quotas = Readonly<Record<Plan, Readonly<Record<QuotaResource, Quota>>>>;
