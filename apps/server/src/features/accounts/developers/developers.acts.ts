import { act, type DataOf } from '../../../platform/acts.ts';

interface NamedKey {
  readonly keyId: string;
  readonly name: string;
}

export const acts = {
  'developer.created': act<{ readonly mode: 'live' | 'sandbox' }>(),
  'developer.updated': act<{ readonly changed: readonly string[] }>(),
  'developer.closed': act<{ readonly erasedAfter: string }>(),
  'apikey.created': act<NamedKey>(),
  'apikey.rotated': act<NamedKey>(),
  'apikey.revoked': act<NamedKey>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}
