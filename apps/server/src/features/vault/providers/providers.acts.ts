import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface Named {
  readonly providerId: string;
  readonly service: string;
}

export const acts = {
  'vault.provider.created': act<Named>(),
  'vault.provider.updated': act<Named & { readonly changed: readonly string[] }>(),
  'vault.provider.deleted': act<Named>(),
  'vault.provider.failed': act<Named & { readonly error: string }>(),
};

export const entries = { 'vault.provider_key.rotated': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'vault.provider_key.rotated': {
      readonly fromKeyId: string;
      readonly toKeyId: string;
      readonly count: number;
    };
  }
}
