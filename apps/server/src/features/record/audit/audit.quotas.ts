import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  audit_appends: {
    free: 20_000,
    pro: 1_000_000,
    enterprise: 'unlimited',
    describes: 'entries written by `POST /v1/audit/log` in a calendar month (UTC)',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
