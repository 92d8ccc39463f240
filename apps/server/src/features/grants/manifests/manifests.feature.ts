import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { eraseManifests } from './manifests.repo.ts';
import { manifestRoutes } from './manifests.routes.ts';

const tables: TableUse = {
  owns: {
    manifests: { quota: 'manifests', kib: 2 },
    // 51 versions of a connector, which have 4 MiB together. The connectors that were deleted last keep theirs.
    manifest_versions: { of: 'manifests', each: 102, kib: 80 },
  },
  reads: ['developers'],
  writes: [],
};

const quotas = {
  manifests: { free: 20, pro: 500, enterprise: 'unlimited', describes: 'connectors with a manifest' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

const acts = {
  'manifest.updated': act<{
    readonly connector: string;
    readonly version: string;
    readonly sha256: string;
    /** The hash of the version before; null for the first. */
    readonly previous: string | null;
    /** The tools that are new or wider than in the version before. */
    readonly wider: readonly string[];
  }>(),
  'manifest.deleted': act<{ readonly connector: string; readonly sha256: string }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const manifests = defineFeature({
  name: 'manifests',
  tags: { manifests: 'The tools of connectors, and what each of them demands.' },
  tables,
  acts,
  quotas,
  listens: [on(tenantErased, eraseManifests)],
  open: (context) => ({ routes: (app) => manifestRoutes(app, context) }),
});
