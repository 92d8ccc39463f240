import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  sso_connections: {
    free: 50,
    pro: 1000,
    enterprise: 'unlimited',
    describes: 'connections of single sign-on',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
