import type { Plan } from '../../caller.ts';

/**
 * Every limit of the product, a minute. A rule is one or more budgets, each keyed by what it names: the client's
 * address, the record in the path (whose id is the path's `:id`), or who authentication says is asking. `factor`
 * multiplies the rule's setting.
 */
export const rateRules = {
  default: [{ by: 'address' }],
  authorize: [{ by: 'developer' }],
  token: [{ by: 'developer' }],
  refresh: [{ by: 'developer' }],
  vaultExchange: [{ by: 'token' }],
  vaultWrite: [{ by: 'developer' }],
  signup: [{ by: 'address' }],
  keys: [{ by: 'developer' }],
  emailVerify: [{ by: 'developer' }],
  emailCode: [{ by: 'record' }, { by: 'address', factor: 24 }],
  consent: [{ by: 'record' }, { by: 'address', factor: 4 }],
  principalSession: [{ by: 'developer' }],
  auditLog: [{ by: 'developer' }],
  auditVerify: [{ by: 'developer' }],
  webhookWrite: [{ by: 'developer' }],
  domainWrite: [{ by: 'developer' }],
  domainVerify: [{ by: 'developer' }],
  policyWrite: [{ by: 'developer' }],
  policySync: [{ by: 'developer' }],
  policySecret: [{ by: 'developer' }],
  anomalyWrite: [{ by: 'developer' }],
  complianceExport: [{ by: 'developer' }],
  scimTokenWrite: [{ by: 'developer' }],
  ssoTest: [{ by: 'developer' }],
  ssoLogin: [{ by: 'address' }],
  ssoDiscover: [{ by: 'address' }],
  ssoCallback: [{ by: 'address' }],
  ssoLdap: [{ by: 'address' }],
  credentialVerify: [{ by: 'address' }],
  statusList: [{ by: 'address' }],
  didResolve: [{ by: 'address' }],
  assert: [{ by: 'address' }, { by: 'record' }],
  admin: [{ by: 'address' }],
  oauthAuthorize: [{ by: 'clientAtAddress' }, { by: 'developer', factor: 12 }],
  oauthToken: [{ by: 'client' }],
  oauthRegister: [{ by: 'address' }],
  oauthRevoke: [{ by: 'client' }],
  oauthIntrospect: [{ by: 'resource' }],
  unlimited: [],
} as const satisfies Record<string, readonly RateBudget[]>;

type Anonymous = 'address' | 'record';
type Subject = Anonymous | 'developer' | 'token' | 'client' | 'clientAtAddress' | 'resource';

interface RateBudget {
  readonly by: Subject;
  readonly factor?: number;
}

export type Rate = keyof typeof rateRules;

/** Requests a minute: of each rule, and of a plan as a whole, which is in addition to the rule. */
export type RateLimits = Readonly<Record<Exclude<Rate, 'unlimited'> | PlanRule, number>>;

const planRules = { free: 'planFree', pro: 'planPro', enterprise: 'planEnterprise' } as const;
type PlanRule = (typeof planRules)[Plan];

export const planLimit = (plan: Plan, limits: RateLimits): number => limits[planRules[plan]];

/** One budget of a request, named: what is counted, for whom, and up to where. */
export interface Budget {
  readonly rule: string;
  readonly subject: string;
  readonly limit: number;
  /** 0 looks whether there is room and takes none. */
  readonly cost: 0 | 1;
}

/** The budgets of a rule that are known by `subjects`: the others wait for who is asking. */
export function budgetsOf(
  rate: Rate,
  subjects: Readonly<Partial<Record<Subject, string>>>,
  limits: RateLimits,
): Budget[] {
  if (rate === 'unlimited') return [];
  const budgets: readonly RateBudget[] = rateRules[rate];
  return budgets.flatMap(({ by, factor = 1 }) => {
    const subject = subjects[by];
    if (subject === undefined) return [];
    return [{ rule: rate, subject: `${by}:${subject}`, limit: limits[rate] * factor, cost: 1 }];
  });
}

const ANONYMOUS: ReadonlySet<Subject> = new Set<Anonymous>(['address', 'record']);

/** Whether a rule counts by something that only authentication tells. */
export const needsIdentity = (rate: Rate): boolean =>
  rateRules[rate].some(({ by }: RateBudget) => !ANONYMOUS.has(by));
