import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  consent_mails: {
    free: 100,
    pro: 1000,
    enterprise: 10_000,
    describes: 'codes that the consent page mails in a calendar day (UTC)',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
