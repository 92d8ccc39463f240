import { act, type DataOf } from '../../../platform/acts.ts';

interface OfExport {
  readonly kind: 'grants' | 'audit' | 'evidence-pack';
  /** Null where the export had no such bound. */
  readonly since: string | null;
  readonly until: string | null;
  /** The records in the export, when it began. */
  readonly total: number;
  readonly format: 'json' | 'ndjson' | 'csv' | 'zip';
}

export const acts = { 'compliance.exported': act<OfExport>() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}
