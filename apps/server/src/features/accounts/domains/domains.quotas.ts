import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  domains: { free: 1, pro: 5, enterprise: 'unlimited', describes: 'custom domains' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
