import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  webhooks: {
    free: 30,
    pro: 200,
    enterprise: 'unlimited',
    describes: 'registered webhooks',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
