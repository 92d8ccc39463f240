import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  vault_providers: {
    free: 50,
    pro: 500,
    enterprise: 'unlimited',
    describes: 'providers of connected accounts',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
