import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  scim_people: { free: 2000, pro: 100_000, enterprise: 'unlimited', describes: 'people of a SCIM directory' },
  scim_groups: { free: 200, pro: 10_000, enterprise: 'unlimited', describes: 'groups of a SCIM directory' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
