import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { identityProviders } from '../../people/sso/index.ts';
import { eraseWorkloads } from './workloads.repo.ts';
import { workloadRoutes } from './workloads.routes.ts';

const tables: TableUse = {
  owns: { agent_workloads: { of: 'agents', each: 20 } },
  reads: [],
  writes: [],
};

interface OfWorkload {
  readonly workloadId: string;
  readonly issuer: string;
}

const acts = {
  'agent.workload.created': act<OfWorkload>(),
  'agent.workload.deleted': act<OfWorkload>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const workloads = defineFeature({
  name: 'workloads',
  tags: { workloads: 'Platforms on which agents run, and by whose JWTs they authenticate.' },
  tables,
  acts,
  listens: [on(tenantErased, eraseWorkloads)],
  open: (context) => ({
    routes: (app) => workloadRoutes(app, { ...context, upstream: context.take(identityProviders) }),
  }),
});
