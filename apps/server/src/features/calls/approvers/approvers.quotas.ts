import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  approvers: { free: 100, pro: 1000, enterprise: 1000, describes: 'approvers who are not removed' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
