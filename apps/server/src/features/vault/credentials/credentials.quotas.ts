import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  vault_credentials: {
    free: 'unlimited',
    pro: 'unlimited',
    enterprise: 'unlimited',
    describes: 'credentials in the vault',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
