import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface OfExport {
  readonly kind: 'grants' | 'audit' | 'evidence-pack' | 'principal';
  /** Null where the export had no such bound. */
  readonly since: string | null;
  readonly until: string | null;
  /** The records in the export, when it began. */
  readonly total: number;
  readonly format: 'json' | 'ndjson' | 'csv' | 'ocsf' | 'zip';
}

export const acts = { 'compliance.exported': act<OfExport>() };

export const entries = { 'compliance.hold_changed': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'compliance.hold_changed': { readonly id: string; readonly change: 'placed' | 'released' };
  }
}
