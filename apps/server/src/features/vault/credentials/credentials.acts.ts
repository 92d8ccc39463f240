import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface Named {
  readonly credentialId: string;
  readonly service: string;
}

interface OfProvider extends Named {
  readonly providerId: string;
}

export const acts = {
  'vault.credential.stored': act<Named & { readonly credentialType: string; readonly replaced: boolean }>(),
  'vault.credential.deleted': act<
    Named & { readonly reason: 'api' | 'principal_request' | 'developer_deleted' | 'principal_offboarded' }
  >(),
  'vault.credential.exchanged': act<Named>(),
  'vault.credential.refreshed': act<Named & { readonly tokenExpiresAt: string | null }>(),
  'vault.credential.refresh_failed': act<Named & { readonly error: string }>(),
  'vault.connection.reauthorization_required': act<
    OfProvider & { readonly reason: string; readonly missingScopes?: readonly string[] }
  >(),
  'vault.connection.disconnected': act<
    OfProvider & { readonly by: string; readonly upstream: 'revoked' | 'failed' | 'unsupported' }
  >(),
};

export const entries = {
  'vault.exchange_blocked': entryOnly(),
  'vault.key.rotated': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'vault.exchange_blocked': true;
  }
  interface Entries {
    'vault.key.rotated': { readonly fromKeyId: string; readonly toKeyId: string; readonly count: number };
  }
}
