import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { cedarInService } from '../../grants/policies/index.ts';
import { eraseBundles } from './bundles.repo.ts';
import { bundleRoutes, rates } from './bundles.routes.ts';
import { SEAL_KEY_USE, sealedSyncSecrets } from './sync.ts';

const tables: TableUse = {
  owns: { policy_bundles: { quota: 'bundles', kib: 5120 }, policy_sync_secrets: { most: 1 } },
  reads: [],
  writes: [],
};

const quotas = {
  bundles: { free: 10, pro: 1000, enterprise: 'unlimited', describes: 'policy bundles' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

const acts = {
  'policy.bundle_activated': act<{
    readonly bundleId: string;
    readonly format: string;
    readonly version: string;
    readonly sha256: string;
    readonly previousBundleId: string | null;
  }>(),
  'policy.bundle_deleted': act<{
    readonly bundleId: string;
    readonly format: string;
    readonly version: string;
    readonly sha256: string;
  }>(),
  'policy.sync_requested': act<{ readonly ref: string | null; readonly repository: string | null }>(),
};

const entries = { 'policy.secret_rotated': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'policy.secret_rotated': Readonly<Record<never, never>>;
  }
}

export const bundles = defineFeature({
  name: 'bundles',
  tags: { policyBundles: 'Policies as code for a decision point of the operator.' },
  tables,
  acts: { ...acts, ...entries },
  rates,
  quotas,
  keyUses: [SEAL_KEY_USE],
  listens: [on(tenantErased, eraseBundles)],
  open: (context) => ({
    routes: (app) => bundleRoutes(app, { ...context, runsCedar: context.take(cedarInService) }),
    sealed: [sealedSyncSecrets(context.keyRing)],
  }),
});
