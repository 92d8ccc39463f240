import { act, type DataOf } from '../../../platform/acts.ts';

interface OfErasure {
  readonly erasureId: string;
  /** The entries that it erased. */
  readonly count: number;
  /** SHA-256 of the JSON array of their numbers. */
  readonly digest: string;
  /** SHA-256 of the leaves that their parts make. */
  readonly leaves: string;
}

export const acts = { 'audit.erased': act<OfErasure>() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}
