import { act, type DataOf } from '../../../platform/acts.ts';

interface OfLink {
  readonly setupId: string;
  readonly name: string;
}

export const acts = {
  'setup.link.created': act<OfLink & { readonly purposes: readonly string[] }>(),
  'setup.link.revoked': act<OfLink>(),
  'setup.link.opened': act<OfLink>(),
  'setup.finished': act<OfLink & { readonly connectionId: string | null }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}
