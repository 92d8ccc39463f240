import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { eraseHolds, tellHolds } from './compliance.repo.ts';
import { complianceRoutes, holdRoutes, rates } from './compliance.routes.ts';
import { refuseHeld } from './holds.ts';

const tables: TableUse = {
  owns: { legal_holds: { rate: 'complianceHold' } },
  reads: [],
  writes: [],
};

const settings = {
  COMPLIANCE_MAX_ROWS: defaulted(
    integer(1, 10_000_000),
    '100000',
    'The most rows of an export in one JSON document, and of each list in an evidence pack. The other forms have no such limit.',
  ),
};

interface OfExport {
  readonly kind: 'grants' | 'audit' | 'evidence-pack' | 'principal';
  /** Null where the export had no such bound. */
  readonly since: string | null;
  readonly until: string | null;
  /** The records in the export, when it began. */
  readonly total: number;
  readonly format: 'json' | 'ndjson' | 'csv' | 'ocsf' | 'zip';
  /** The case that an evidence pack is about. */
  readonly caseId?: string;
}

const acts = { 'compliance.exported': act<OfExport>() };

const entries = { 'compliance.hold_changed': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'compliance.hold_changed': { readonly id: string; readonly change: 'placed' | 'released' };
  }
}

export const compliance = defineFeature({
  name: 'compliance',
  tags: { compliance: 'Exports and evidence for auditors.' },
  tables,
  acts: { ...acts, ...entries },
  rates,
  settings,
  listens: [on(accountClosed, refuseHeld), on(tenantErased, eraseHolds), on(personExported, tellHolds)],
  open: (context, settings) => ({
    async routes(app) {
      const tellers = context.listenersOf(personExported);
      await complianceRoutes(app, { ...context, tellers, maxRows: settings.COMPLIANCE_MAX_ROWS });
      await holdRoutes(app, context);
    },
  }),
});
