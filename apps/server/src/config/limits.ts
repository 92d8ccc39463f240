import type { Plan } from '../platform/caller.ts';
import { allowedBy, type RateLimits, type RateRule } from '../platform/http/limits/rate-rules.ts';
import { plans, type Quota, type QuotaDeclarations, type Quotas } from '../platform/quotas.ts';
import { integer } from './readers.ts';
import {
  defaulted,
  type Environment,
  optional,
  type Reader,
  readSettings,
  type Setting,
  type SettingProblem,
} from './setting.ts';

const MAX_LIMIT = 1_000_000_000;

/**
 * Limits of features that this release does not have, by the ends of their names. The service checks their values and
 * uses none of them, so that one configuration serves several releases. A name leaves this list when its feature
 * declares the limit.
 */
const reservedRates = ['RECEIPT'];

/** The limits that features declare. */
export interface Limits {
  readonly rates: readonly RateRule[];
  readonly quotas: QuotaDeclarations;
}

const quota: Reader<Quota> = {
  accepts: `an integer between 0 and ${MAX_LIMIT}, or unlimited`,
  read: (text, context) => (text === 'unlimited' ? text : integer(0, MAX_LIMIT).read(text, context)),
};

export const rateName = (rule: string) => `RATE_LIMIT_${rule.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
export const quotaName = (plan: Plan, resource: string) => `PLAN_${plan}_${resource}`.toUpperCase();

/** Requests in a minute, an hour or a day, by rule: `RATE_LIMIT_<RULE>`. */
export function rateSettings({ rates }: Limits): Readonly<Record<string, Setting<number>>> {
  return Object.fromEntries(
    rates.map((rule) => [
      rateName(rule.name),
      defaulted(integer(1, MAX_LIMIT), String(allowedBy(rule)), rule.describes),
    ]),
  );
}

/** The quotas of each plan: `PLAN_<PLAN>_<RESOURCE>`. */
export function quotaSettings({ quotas }: Limits): Readonly<Record<string, Setting<Quota>>> {
  return Object.fromEntries(
    plans.flatMap((plan) =>
      Object.entries(quotas).map(([resource, { [plan]: included, describes }]) => [
        quotaName(plan, resource),
        defaulted(quota, String(included), describes),
      ]),
    ),
  );
}

function reservedSettings(): Readonly<Record<string, Setting<unknown>>> {
  return Object.fromEntries(
    reservedRates.map((name) => [`RATE_LIMIT_${name}`, optional(integer(1, MAX_LIMIT), '', '')]),
  );
}

export function readLimits(limits: Limits, env: Environment, problems: SettingProblem[]) {
  const [rateTable, quotaTable] = [rateSettings(limits), quotaSettings(limits)];
  const allowed = readSettings(rateTable, env, problems);
  const included = readSettings(quotaTable, env, problems);
  const reserved = reservedSettings();
  readSettings(reserved, env, problems);
  const known = { ...reserved, ...rateTable, ...quotaTable };
  problems.push(...unknownLimits(env, (name) => name in known));
  const quotasOf = (plan: Plan) =>
    Object.fromEntries(
      Object.keys(limits.quotas).map((resource) => [resource, included[quotaName(plan, resource)]]),
    );
  const rates = limits.rates.map(({ name }) => [name, allowed[rateName(name)]]);
  return {
    // Every rule, plan and resource has a value unless it is among the problems: fromEntries forgets the names.
    rateLimits: Object.fromEntries(rates) as RateLimits,
    quotas: Object.fromEntries(plans.map((plan) => [plan, quotasOf(plan)])) as Quotas,
  };
}

const LIMIT = /^(RATE_LIMIT|PLAN_FREE|PLAN_PRO|PLAN_ENTERPRISE)_/;

/** A limit with a misspelt name would silently have no effect. */
function unknownLimits(env: Environment, isKnown: (name: string) => boolean): SettingProblem[] {
  return Object.entries(env)
    .filter(([name, text]) => LIMIT.test(name) && text?.trim() && !isKnown(name))
    .map(([setting]) => ({ setting, message: `${setting} is not a known limit` }));
}
