import type { Plan } from '../../caller.ts';

/** A limit that a feature declares and its routes name. */
export type RateRule = {
  /** The name of the rule in settings, refusals and metrics. */
  readonly name: string;
  /** For the operator: the calls that are counted, and the subject. */
  readonly describes: string;
  /** A rule is one or more counts, each by another subject. */
  readonly counts: readonly RateCountRule[];
} & Allowance;

/** Requests in a window, unless the operator sets another number. */
type Allowance =
  | { readonly perMinute: number; readonly perHour?: never; readonly perDay?: never }
  | { readonly perHour: number; readonly perMinute?: never; readonly perDay?: never }
  | { readonly perDay: number; readonly perMinute?: never; readonly perHour?: never };

interface RateCountRule {
  readonly by: Subject;
  /** Multiplies the rule's limit. */
  readonly factor?: number;
}

/**
 * The subject that requests are counted by: the client's address, the resource in the path (whose id is the
 * path's `:id`) for callers that have shown its secret, the developer, the session of a person or the grant token of an
 * agent that authentication has found, or the recipient of a mail, the credential of the vault or the OAuth client, which the use
 * case charges itself.
 */
type Subject =
  | 'address'
  | 'resource'
  | 'developer'
  | 'session'
  | 'token'
  | 'recipient'
  | 'credential'
  | 'client';

/**
 * Declares the rules of a feature, each under the name that its setting is made from.
 * @example rateRules({ token: { perMinute: 20, counts: [{ by: 'developer' }], describes: '`POST /v1/token`, by developer' } })
 */
export function rateRules<const Rules extends Readonly<Record<string, Unnamed<RateRule>>>>(rules: Rules) {
  const named = Object.entries(rules).map(([name, rule]) => [name, { name, ...rule }]);
  return Object.fromEntries(named) as { readonly [Name in keyof Rules]: RateRule }; // fromEntries forgets the names
}

type Unnamed<Rule> = Rule extends unknown ? Omit<Rule, 'name'> : never;

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
  console: {
    perMinute: 600,
    describes: 'calls of the console and of the page of approvers, by session or approver',
    counts: [{ by: 'session' }],
  },
  admin: {
    perMinute: 20,
    describes: 'routes of the operator, below `/v1/admin/`, by client address',
    counts: [{ by: 'address' }],
  },
});

/** The rate of a route: a feature's rule or several, the general rule, or none. */
export type Rate = RateRule | readonly RateRule[] | 'default' | 'unlimited';

/** Requests in the rule's window, by the name of the rule. */
export type RateLimits = Readonly<Record<string, number>>;

const planRules = {
  free: generalRates.planFree,
  pro: generalRates.planPro,
  enterprise: generalRates.planEnterprise,
} as const satisfies Record<Plan, RateRule>;

const planLimit = (plan: Plan, limits: RateLimits): number => limitOf(planRules[plan], limits);

const limitOf = (rule: RateRule, limits: RateLimits): number => limits[rule.name] ?? allowedBy(rule);

/** The limit that the rule declares. */
export function allowedBy(rule: RateRule): number {
  if (rule.perMinute !== undefined) return rule.perMinute;
  return rule.perHour !== undefined ? rule.perHour : rule.perDay;
}

const SECONDS = { minute: 60, hour: 3600, day: 86_400 };

/** A window begins with the minute, the hour or the day (UTC). */
export function windowOf(rule: RateRule): keyof typeof SECONDS {
  if (rule.perDay !== undefined) return 'day';
  return rule.perHour !== undefined ? 'hour' : 'minute';
}

/** One count of a request: its rule, its subject and its limit. */
export interface RateCount {
  readonly rule: string;
  readonly subject: string;
  readonly limit: number;
  readonly windowSeconds: number;
  /** 0 checks for room and takes none. */
  readonly cost: 0 | 1;
}

/** The counts of a rule whose subjects are known. The others wait for authentication. */
export function rateCountsOf(
  rate: Rate,
  subjects: Readonly<Partial<Record<Subject, string>>>,
  limits: RateLimits,
): RateCount[] {
  const all: RateCount[] = [];
  for (const rule of rulesOf(rate)) {
    const windowSeconds = SECONDS[windowOf(rule)];
    for (const { by, factor = 1 } of rule.counts) {
      const id = subjects[by];
      if (id === undefined) continue;
      all.push({
        rule: rule.name,
        subject: `${by}:${id}`,
        limit: limitOf(rule, limits) * factor,
        windowSeconds,
        cost: 1,
      });
    }
  }
  return all;
}

/** The count of a developer's calls by the rule of the plan. */
export const planCount = (plan: Plan, developerId: string, limits: RateLimits): RateCount => ({
  rule: 'plan',
  subject: `developer:${developerId}`,
  limit: planLimit(plan, limits),
  windowSeconds: SECONDS.minute,
  cost: 1,
});

function rulesOf(rate: Rate): readonly RateRule[] {
  if (rate === 'unlimited') return [];
  if (rate === 'default') return [generalRates.default];
  return 'name' in rate ? [rate] : rate;
}

/** Whether a rule counts only by subjects that authentication finds. */
export function needsIdentity(rate: Rate): boolean {
  const rules = rulesOf(rate);
  const isEmpty = rules.every(({ counts }) => counts.length === 0);
  return !isEmpty && rules.every(({ counts }) => counts.every(({ by }) => by !== 'address'));
}
