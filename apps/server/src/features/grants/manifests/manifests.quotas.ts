import type { QuotaDeclarations } from '../../../platform/quotas.ts';

export const quotas = {
  manifests: { free: 20, pro: 500, enterprise: 'unlimited', describes: 'connectors with a manifest' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}
