import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  proxy_profiles: { free: 50, pro: 500, enterprise: 'unlimited', describes: 'profiles of the vault proxy' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
