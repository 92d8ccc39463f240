import { act, type DataOf } from '../../../platform/acts.ts';

export const acts = {
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
