import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  resources: { free: 50, pro: 1000, enterprise: 'unlimited', describes: 'resources' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
