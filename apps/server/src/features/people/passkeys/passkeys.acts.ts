import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface OfPasskey {
  readonly credentialId: string;
}

export const acts = {
  'fido.registered': act<OfPasskey>(),
  'fido.assertion': act<
    OfPasskey & { readonly authRequestId?: string; readonly connectSessionId?: string }
  >(),
  'fido.removed': act<OfPasskey & { readonly reason: 'api' | 'principal' | 'principal_offboarded' }>(),
  'fido.clone_suspected': act<OfPasskey>(),
};

export const entries = { 'fido.updated': entryOnly(), 'fido.registration_failed': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'fido.updated': OfPasskey & { readonly changed: readonly string[] };
  }
  interface Attempts {
    'fido.registration_failed': true;
  }
}
