import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { careOfChanges } from './approve.ts';
import { eraseChanges } from './changes.repo.ts';
import { changeRoutes, rates } from './changes.routes.ts';
import { proposeChange } from './propose.ts';

const tables: TableUse = {
  owns: { changes: { rate: 'policyWrite', kept: '30 days after they are decided', kib: 1024 } },
  reads: ['members', 'api_keys'],
  writes: [],
};

interface OfChange {
  readonly changeId: string;
  readonly operation: string;
  readonly about: string;
  readonly hash: string;
  readonly proposedBy: string;
}

const acts = {
  'change.proposed': act<OfChange>(),
  'change.approved': act<OfChange & { readonly approvedBy: readonly string[]; readonly applied: boolean }>(),
  'change.withdrawn': act<OfChange>(),
  'change.expired': act<OfChange>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const changes = defineFeature({
  name: 'changes',
  tags: { changes: 'Changes that weaken enforcement and wait for a second member of the account.' },
  tables,
  acts,
  rates,
  listens: [on(tenantErased, eraseChanges)],
  open: (context) => ({
    routes: (app) => changeRoutes(app, context),
    propose: (request, kept, loosening) =>
      proposeChange(depsFor(request, context), callerOf(request), kept, loosening),
    jobs: [careOfChanges(context)],
  }),
});
