import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface OfPasskey {
  readonly credentialId: string;
}

/** The authenticator as it described itself, for systems that are told of the credential. */
interface OfAuthenticator extends OfPasskey {
  readonly transports: readonly string[];
  readonly aaguid: string | null;
}

export const acts = {
  'fido.registered': act<OfAuthenticator>(),
  'fido.assertion': act<
    OfPasskey & { readonly authRequestId?: string; readonly connectSessionId?: string }
  >(),
  'fido.removed': act<OfAuthenticator & { readonly reason: 'api' | 'principal' | 'principal_offboarded' }>(),
  'fido.clone_suspected': act<OfAuthenticator>(),
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
