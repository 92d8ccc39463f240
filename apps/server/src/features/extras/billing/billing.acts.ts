import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

export const acts = {
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
