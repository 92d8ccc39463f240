import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  open_requests: {
    free: 100,
    pro: 1000,
    enterprise: 10_000,
    describes: 'authorization requests that are undecided, or approved and not exchanged',
  },
  authorizations: {
    free: 50_000,
    pro: 5_000_000,
    enterprise: 'unlimited',
    describes: 'authorization requests in a calendar month (UTC)',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
