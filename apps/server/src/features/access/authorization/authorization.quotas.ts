import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  open_requests: {
    free: 100,
    pro: 1000,
    enterprise: 10_000,
    describes: 'authorization requests that are undecided, or approved and not exchanged',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
