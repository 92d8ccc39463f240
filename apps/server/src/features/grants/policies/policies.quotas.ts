import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  policies: { free: 50, pro: 500, enterprise: 'unlimited', describes: 'policies' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
