import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  bundles: { free: 10, pro: 1000, enterprise: 'unlimited', describes: 'policy bundles' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
