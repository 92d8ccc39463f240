import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface OfSession {
  readonly connectSessionId: string;
  readonly service: string;
}

export const acts = {
  'vault.connection.requested': act<
    OfSession & { readonly providerId: string; readonly scopes: readonly string[] }
  >(),
  'vault.connection.connected': act<
    OfSession & {
      readonly credentialId: string;
      readonly providerId: string;
      readonly scopesAsked: readonly string[];
      readonly scopesGranted: readonly string[];
      readonly method: string;
      readonly replaced: boolean;
    }
  >(),
  'vault.connection.failed': act<OfSession & { readonly reason: string }>(),
};

export const entries = { 'vault.connection.blocked': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'vault.connection.blocked': true;
  }
}
