import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  vault_credentials: {
    free: 5000,
    pro: 500_000,
    enterprise: 'unlimited',
    describes: 'credentials in the vault',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
