import { anyText, integer, notInProduction } from '../../../config/readers.ts';
import { defaulted, optional } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { eraseBilling } from './billing.repo.ts';
import { billingRoutes } from './billing.routes.ts';
import type { Plan } from './billing.rules.ts';
import { type StripeSettings, stripeProvider } from './provider.ts';
import { type EventDeps, endGraces } from './receive.ts';

const tables: TableUse = {
  owns: { billing_customers: { most: 1 }, subscriptions: { most: 1 }, billing_events: 'operator' },
  reads: [],
  writes: [],
};

const endOfGraces = (deps: Pick<EventDeps, 'db' | 'clock' | 'publishChange'>): Job => ({
  name: 'end of graces',
  everySeconds: 60,
  async run(signal) {
    while (!signal.aborted && (await endGraces(deps)) > 0);
  },
});

const acts = {
  'billing.plan_changed': act<{
    readonly plan: string;
    readonly previousPlan: string;
    readonly status: string;
    readonly previousStatus: string;
    readonly currentPeriodEnd: string | null;
  }>(),
  'billing.checkout_created': entryOnly(),
  'billing.portal_created': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<Pick<typeof acts, 'billing.plan_changed'>> {}
  interface Entries {
    'billing.checkout_created': { readonly plan: string };
    'billing.portal_created': Readonly<Record<never, never>>;
  }
}

const secret = (meaning: string) =>
  optional(anyText('a text'), 'unset: the service takes no payments', meaning);

const TOGETHER = [
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'STRIPE_PRICE_PRO',
  'STRIPE_PRICE_ENTERPRISE',
] as const;

export const billing = defineFeature({
  name: 'billing',
  tags: { billing: 'The subscription that pays for a plan.' },
  tables,
  acts,
  settings: {
    STRIPE_SECRET_KEY: secret('The key by which the service calls Stripe.'),
    STRIPE_WEBHOOK_SECRET: secret('The secret with which Stripe signs its events.'),
    STRIPE_PRICE_PRO: secret('The id of the price of the plan pro.'),
    STRIPE_PRICE_ENTERPRISE: secret('The id of the price of the plan enterprise.'),
    STRIPE_API_URL: optional(
      notInProduction(anyText('a URL'), () => true, 'STRIPE_API_URL must not be set in production'),
      '`https://api.stripe.com`',
      'The address of a stand-in for Stripe, for tests. The service refuses it in production.',
    ),
    BILLING_GRACE_DAYS: defaulted(
      integer(0, 90),
      '14',
      'How many days a plan counts on after a payment that failed.',
    ),
  },
  checkSettings(values, refuse) {
    const missing = TOGETHER.filter((name) => values[name] === undefined);
    if (missing.length === 0 || missing.length === TOGETHER.length) return;
    for (const name of missing) refuse(name, `${name} must be set when other STRIPE_ settings are`);
  },
  listens: [on(tenantErased, eraseBilling)],
  open(context, settings) {
    const stripe = stripeSettings(settings);
    const deps = {
      ...context,
      provider: stripe && stripeProvider(stripe),
      graceDays: settings.BILLING_GRACE_DAYS,
      planOfPrice: new Map<string, Plan>(
        stripe && [
          [stripe.prices.pro, 'pro'],
          [stripe.prices.enterprise, 'enterprise'],
        ],
      ),
    };
    return { routes: (app) => billingRoutes(app, deps), jobs: [endOfGraces(deps)] };
  },
});

function stripeSettings(
  values: Readonly<Partial<Record<(typeof TOGETHER)[number] | 'STRIPE_API_URL', string | undefined>>>,
): StripeSettings | undefined {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = values;
  const { STRIPE_PRICE_PRO: pro, STRIPE_PRICE_ENTERPRISE: enterprise, STRIPE_API_URL: apiUrl } = values;
  if (!secretKey || !webhookSecret || !pro || !enterprise) return undefined;
  return { secretKey, webhookSecret, prices: { pro, enterprise }, apiUrl };
}
