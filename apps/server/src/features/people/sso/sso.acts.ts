import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface OfConnection {
  readonly connectionId: string;
}

export const acts = {
  'sso.connection.created': act<OfConnection & { readonly protocol: string; readonly name: string }>(),
  'sso.connection.updated': act<OfConnection & { readonly changed: readonly string[] }>(),
  'sso.connection.deleted': act<OfConnection>(),
  'sso.enforcement_changed': act<{ readonly enforce: boolean }>(),
  'sso.login': act<
    OfConnection & {
      readonly protocol: string;
      readonly sessionId: string;
      readonly principalId: string | null;
      readonly email: string | null;
    }
  >(),
  'sso.user_linked': act<OfConnection & { readonly userId: string }>(),
  'sso.identity.moved': act<OfConnection & { readonly userId: string; readonly fromUserId?: string }>(),
  'sso.session.revoked': act<OfConnection & { readonly sessionId: string; readonly reason: string }>(),
};

export const entries = { 'sso.login_failed': entryOnly(), 'sso.connection_key.rotated': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'sso.connection_key.rotated': OfConnection & { readonly fromKeyId: string; readonly toKeyId: string };
  }
  interface Attempts {
    'sso.login_failed': true;
  }
}
