import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { personErased, personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { principalRights } from '../scim/index.ts';
import { passkeyRights } from './manage.ts';
import { eraseEvidenceOf, erasePasskeys, tellPasskeys } from './passkeys.repo.ts';
import { passkeyRoutes, rates } from './passkeys.routes.ts';
import { passkeySettings, relyingPartyOf, strangeOrigin, webauthnRelyingParty } from './passkeys.settings.ts';

const tables: TableUse = {
  owns: {
    passkey_users: { rate: 'plan' },
    passkeys: { rate: 'plan', kib: 8 },
    passkey_challenges: { rate: 'plan', kept: '15 minutes' },
    passkey_evidence: { of: 'auth_requests' },
  },
  reads: [],
  writes: [],
};

interface OfPasskey {
  readonly credentialId: string;
}

/** The authenticator as it described itself, for systems that are told of the credential. */
interface OfAuthenticator extends OfPasskey {
  readonly transports: readonly string[];
  readonly aaguid: string | null;
}

const acts = {
  'fido.registered': act<OfAuthenticator>(),
  'fido.assertion': act<
    OfPasskey & { readonly authRequestId?: string; readonly connectSessionId?: string }
  >(),
  'fido.removed': act<OfAuthenticator & { readonly reason: 'api' | 'principal' | 'principal_offboarded' }>(),
  'fido.clone_suspected': act<OfAuthenticator>(),
};

const entries = {
  'fido.updated': entryOnly(),
  'fido.registration_failed': entryOnly(),
  'fido.sign_in_failed': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'fido.updated': OfPasskey & { readonly changed: readonly string[] };
  }
  interface Attempts {
    'fido.registration_failed': true;
    'fido.sign_in_failed': true;
  }
}

export const passkeys = defineFeature({
  name: 'passkeys',
  tags: { webauthn: 'Passkeys, with which principals prove who they are.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['fido.registration_failed', 'fido.sign_in_failed'],
  rates,
  settings: passkeySettings,
  checkSettings(settings, refuse, { publicBaseUrl }) {
    if (settings.FIDO_RP_ID === undefined && settings.FIDO_ORIGIN === undefined) return;
    const strange = strangeOrigin(settings, publicBaseUrl);
    if (strange === undefined) return;
    refuse('FIDO_RP_ID', `FIDO_RP_ID must be the host of every origin, or a domain above it (${strange})`);
  },
  listens: [
    on(tenantErased, erasePasskeys),
    on(personExported, tellPasskeys),
    on(personErased, eraseEvidenceOf),
    on(principalRights, passkeyRights),
  ],
  open(context, settings) {
    const relyingParty = context.provide(
      webauthnRelyingParty,
      relyingPartyOf(settings, context.publicBaseUrl),
    );
    return { routes: (app) => passkeyRoutes(app, { ...context, relyingParty }) };
  },
});
