import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  active_grants: {
    free: 1000,
    pro: 50_000,
    enterprise: 'unlimited',
    describes: 'active grants, including delegated grants',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
