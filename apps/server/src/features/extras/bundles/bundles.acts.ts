import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

export const acts = {
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

export const entries = { 'policy.secret_rotated': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'policy.secret_rotated': Readonly<Record<never, never>>;
  }
}
