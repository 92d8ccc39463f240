import type { Plan } from '../../caller.ts';

/** A limit that a feature declares in its `<noun>.rates.ts` and its routes name. */
export interface RateRule {
  /** The name of the rule in settings, refusals and metrics. */
  readonly name: string;
  /** Requests a minute, unless the operator sets another number. */
  readonly perMinute: number;
  /** For the operator: the calls that are counted, and the subject. */
  readonly describes: string;
  /** A rule is one or more counts, each by another subject. */
  readonly counts: readonly RateCountRule[];
}

interface RateCountRule {
  readonly by: Subject;
  /** Multiplies the rule's limit. */
  readonly factor?: number;
}

/**
 * The subject that requests are counted by: the client's address, the resource in the path (whose id is the
 * path's `:id`) for callers that have shown its secret, or the developer that authentication has found.
 */
type Subject = 'address' | 'resource' | 'developer';

/**
 * Declares the rules of a feature, each under the name that its setting is made from.
 * @example rateRules({ token: { perMinute: 20, counts: [{ by: 'developer' }], describes: '`POST /v1/token`, by developer' } })
 */
export function rateRules<const Rules extends Readonly<Record<string, Omit<RateRule, 'name'>>>>(
  rules: Rules,
) {
  const named = Object.entries(rules).map(([name, rule]) => [name, { name, ...rule }]);
  return Object.fromEntries(named) as { readonly [Name in keyof Rules]: RateRule }; // fromEntries forgets the names
}

/** Rules that belong to no feature. Plan rules come in addition to the rule of a route. */
export const generalRates = rateRules({
  default: {
    perMinute: 5000,
    describes: 'every route without its own rule, by client address',
    counts: [{ by: 'address' }],
  },
  planFree: {
    perMinute: 100,
    describes: 'calls with an API key on plan free, by developer',
    counts: [{ by: 'developer' }],
  },
  planPro: {
    perMinute: 500,
    describes: 'calls with an API key on plan pro, by developer',
    counts: [{ by: 'developer' }],
  },
  planEnterprise: {
    perMinute: 2000,
    describes: 'calls with an API key on plan enterprise, by developer',
    counts: [{ by: 'developer' }],
  },
});

/** The rate of a route: a feature's rule, the general rule, or none (specification, Limits). */
export type Rate = RateRule | 'default' | 'unlimited';

/** Requests a minute, by the name of the rule. */
export type RateLimits = Readonly<Record<string, number>>;

const planRules = {
  free: generalRates.planFree,
  pro: generalRates.planPro,
  enterprise: generalRates.planEnterprise,
} as const satisfies Record<Plan, RateRule>;

export const planLimit = (plan: Plan, limits: RateLimits): number => limitOf(planRules[plan], limits);

const limitOf = ({ name, perMinute }: RateRule, limits: RateLimits): number => limits[name] ?? perMinute;

/** One count of a request: its rule, its subject and its limit. */
export interface RateCount {
  readonly rule: string;
  readonly subject: string;
  readonly limit: number;
  /** 0 checks for room and takes none. */
  readonly cost: 0 | 1;
}

/** The counts of a rule whose subjects are known. The others wait for authentication. */
export function rateCountsOf(
  rate: Rate,
  subjects: Readonly<Partial<Record<Subject, string>>>,
  limits: RateLimits,
): RateCount[] {
  if (rate === 'unlimited') return [];
  const rule = ruleOf(rate);
  return rule.counts.flatMap(({ by, factor = 1 }) => {
    const subject = subjects[by];
    if (subject === undefined) return [];
    return [{ rule: rule.name, subject: `${by}:${subject}`, limit: limitOf(rule, limits) * factor, cost: 1 }];
  });
}

const ruleOf = (rate: Exclude<Rate, 'unlimited'>): RateRule =>
  rate === 'default' ? generalRates.default : rate;

/** Whether a rule counts only by subjects that authentication finds. */
export const needsIdentity = (rate: Rate): boolean =>
  rate !== 'unlimited' && !ruleOf(rate).counts.some(({ by }) => by === 'address');
