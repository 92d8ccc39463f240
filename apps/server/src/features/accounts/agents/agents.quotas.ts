import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  agents: {
    free: 500,
    pro: 5000,
    enterprise: 'unlimited',
    describes: 'agents that are not revoked',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
