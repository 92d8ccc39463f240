import type { Plan } from '../platform/caller.ts';
import type { RateLimits } from '../platform/http/limits/rate-rules.ts';
import { integer } from './readers.ts';
import {
  defaulted,
  type Environment,
  type Problem,
  type Reader,
  readSettings,
  type Setting,
} from './setting.ts';

const MOST = 1_000_000_000;

/** Requests a minute by rule; `RATE_LIMIT_<RULE>` sets another. A new rule is a new line here. */
const rateLimits = {
  default: [5000, 'every route without its own rule, by client address'],
  planFree: [100, 'calls with an API key on plan free, by developer'],
  planPro: [500, 'calls with an API key on plan pro, by developer'],
  planEnterprise: [2000, 'calls with an API key on plan enterprise, by developer'],
  authorize: [10, '`POST /v1/authorize`, by developer'],
  token: [20, '`POST /v1/token`, by developer'],
  refresh: [20, '`POST /v1/token/refresh`, by developer'],
  vaultExchange: [20, 'exchanging a grant token for a stored credential, by grant token'],
  vaultWrite: [30, 'storing and deleting credentials of the vault, by developer'],
  signup: [30, '`POST /v1/signup`, by client address'],
  keys: [5, 'creating, rotating and revoking API keys, by developer'],
  emailVerify: [5, 'sending the mail that verifies an address, by developer'],
  consent: [30, '`/v1/consent/*`, by authorization request; four times as many by client address'],
  emailCode: [
    5,
    'sending and checking a mailed code, by authorization request; 24 times as many by client address',
  ],
  principalSession: [10, 'making principal sessions, by developer'],
  auditLog: [30, '`POST /v1/audit/log`, by developer'],
  auditVerify: [10, '`GET /v1/audit/verify`, by developer'],
  webhookWrite: [30, 'registering, changing and deleting webhooks, by developer'],
  domainWrite: [30, 'registering and deleting domains, by developer'],
  domainVerify: [10, 'verifying a domain, by developer'],
  policyWrite: [30, 'writing policies, by developer'],
  policySync: [10, 'uploading a policy bundle, by developer'],
  policySecret: [5, 'making the secret of a policy bundle, by developer'],
  anomalyWrite: [30, 'detecting anomalies, and making their rules and channels, by developer'],
  complianceExport: [10, 'compliance exports, by developer'],
  scimTokenWrite: [30, 'making and deleting SCIM tokens, by developer'],
  ssoTest: [10, 'testing a single sign-on connection, by developer'],
  ssoLogin: [30, 'beginning a single sign-on, by client address'],
  ssoDiscover: [20, 'finding the single sign-on of an address, by client address'],
  ssoCallback: [20, 'ending a single sign-on, by client address'],
  ssoLdap: [10, 'signing in through LDAP, by client address'],
  credentialVerify: [30, 'verifying credentials, by client address'],
  statusList: [60, 'status lists of credentials, by client address'],
  didResolve: [60, 'resolving DIDs, by client address'],
  assert: [20, 'passkey assertions, by client address, and as many by authorization request'],
  admin: [20, 'the administration of the service, by client address'],
  oauthAuthorize: [10, 'OAuth authorization, by client and address; twelve times as many by developer'],
  oauthToken: [20, 'the OAuth token endpoint, by client'],
  oauthRegister: [10, 'OAuth client registration, by client address'],
  oauthRevoke: [60, 'the OAuth revocation endpoint, by client'],
  oauthIntrospect: [600, 'the OAuth introspection endpoint, by credential of the resource'],
} as const satisfies Record<keyof RateLimits, readonly [perMinute: number, what: string]>;

export const plans = ['free', 'pro', 'enterprise'] as const satisfies Plan[];
export type Quota = number | 'unlimited';

/** What each plan includes; `PLAN_<PLAN>_<RESOURCE>` sets another. */
const quotas = {
  agents: { free: 500, pro: 5000, enterprise: 'unlimited', what: 'agents that are not revoked' },
  active_grants: {
    free: 1000,
    pro: 50_000,
    enterprise: 'unlimited',
    what: 'active grants, delegated included',
  },
  webhooks: { free: 30, pro: 200, enterprise: 'unlimited', what: 'registered webhooks' },
  audit_appends: {
    free: 20_000,
    pro: 1_000_000,
    enterprise: 'unlimited',
    what: 'entries written by `POST /v1/audit/log` in a calendar month (UTC)',
  },
} as const satisfies Record<string, Record<Plan, Quota> & { what: string }>;

/** Also the word for it in the refusal of a call that would exceed it. */
type QuotaResource = keyof typeof quotas;
export type Quotas = Readonly<Record<Plan, Readonly<Record<QuotaResource, Quota>>>>;

const quota: Reader<Quota> = {
  accepts: `an integer between 0 and ${MOST}, or unlimited`,
  read: (text, context) => (text === 'unlimited' ? text : integer(0, MOST).read(text, context)),
};

const rateName = (rule: string) => `RATE_LIMIT_${rule.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
const quotaName = (plan: Plan, resource: string) => `PLAN_${plan}_${resource}`.toUpperCase();

export const rateSettings: Readonly<Record<string, Setting<number>>> = Object.fromEntries(
  Object.entries(rateLimits).map(([rule, [perMinute, what]]) => [
    rateName(rule),
    defaulted(integer(1, MOST), String(perMinute), what),
  ]),
);

export const quotaSettings: Readonly<Record<string, Setting<Quota>>> = Object.fromEntries(
  plans.flatMap((plan) =>
    Object.entries(quotas).map(([resource, { [plan]: included, what }]) => [
      quotaName(plan, resource),
      defaulted(quota, String(included), what),
    ]),
  ),
);

export function readLimits(env: Environment, problems: Problem[]) {
  const perMinute = readSettings(rateSettings, env, problems);
  const included = readSettings(quotaSettings, env, problems);
  problems.push(...unknownLimits(env));
  const rates = Object.keys(rateLimits).map((rule) => [rule, perMinute[rateName(rule)]]);
  const quotasOf = (plan: Plan) =>
    Object.fromEntries(
      Object.keys(quotas).map((resource) => [resource, included[quotaName(plan, resource)]]),
    );
  return {
    // Every rule, plan and resource has a value unless it is among the problems: fromEntries forgets the names.
    rateLimits: Object.fromEntries(rates) as RateLimits,
    quotas: Object.fromEntries(plans.map((plan) => [plan, quotasOf(plan)])) as Quotas,
  };
}

const LIMIT = /^(RATE_LIMIT|PLAN_FREE|PLAN_PRO|PLAN_ENTERPRISE)_/;

/** A limit whose name is misspelt would silently not hold. */
function unknownLimits(env: Environment): Problem[] {
  const isKnown = (name: string) => name in rateSettings || name in quotaSettings;
  return Object.entries(env)
    .filter(([name, text]) => LIMIT.test(name) && text?.trim() && !isKnown(name))
    .map(([setting]) => ({ setting, message: `${setting} is not a known limit` }));
}
