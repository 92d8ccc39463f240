import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  active_grants: {
    free: 1000,
    pro: 50_000,
    enterprise: 'unlimited',
    describes: 'active grants, including delegated grants',
  },
  token_exchanges: {
    free: 50_000,
    pro: 5_000_000,
    enterprise: 'unlimited',
    describes: 'codes that are exchanged for tokens in a calendar month (UTC)',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
