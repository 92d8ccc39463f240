import { boolean } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { resourceServerAcrossTenants } from './resources.queries.ts';
import { eraseResources } from './resources.repo.ts';
import { resourceRoutes } from './resources.routes.ts';

const tables: TableUse = {
  owns: { resources: { quota: 'resources', kib: 96 }, resource_index: { of: 'resources' } },
  reads: ['developers'], // a credential finds its resource and the account
  writes: [],
};

const quotas = {
  resources: { free: 50, pro: 1000, enterprise: 'unlimited', describes: 'resources' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

/** The caller that a resource's credential proves. */
async function identityOf({ db }: { readonly db: Executor }, hash: Buffer) {
  const found = await resourceServerAcrossTenants(db, hash);
  if (!found) return undefined;
  const { developerId, resourceId, resource, connectors, mode, plan } = found;
  const actor = `resource:${resourceId}`;
  const caller = { tenant: { developerId }, agentIds: null, actor, role: 'runtime', mode, plan } as const;
  return { ...caller, resource, connectors };
}

interface Named {
  readonly resourceId: string;
  readonly resource: string;
}

const acts = {
  'resource.created': act<Named>(),
  'resource.updated': act<Named>(),
  'resource.deleted': act<Named>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const resources = defineFeature({
  name: 'resources',
  tags: { resources: 'The servers that take tokens.' },
  tables,
  acts,
  quotas,
  settings: {
    RESOURCES_ALLOW_UNVERIFIED: defaulted(
      boolean,
      'false',
      'Whether resources may be registered under domains that their developer has not verified, for installations with one developer.',
    ),
  },
  listens: [on(tenantErased, eraseResources)],
  open: (context, settings) => ({
    credentials: { resource: (hash) => identityOf(context, hash) },
    routes: (app) =>
      resourceRoutes(app, { ...context, allowsUnverified: settings.RESOURCES_ALLOW_UNVERIFIED }),
  }),
});
