import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { acts, entries } from './passkeys.acts.ts';
import { rates } from './passkeys.rates.ts';
import { erasePasskeys, tellPasskeys } from './passkeys.repo.ts';
import { passkeyRoutes } from './passkeys.routes.ts';
import { passkeySettings, relyingPartyOf, strangeOrigin } from './passkeys.settings.ts';
import { tables } from './passkeys.tables.ts';

export const passkeys = defineFeature({
  name: 'passkeys',
  tags: { webauthn: 'Passkeys, with which principals prove who they are.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['fido.registration_failed'],
  rates,
  settings: passkeySettings,
  checkSettings(settings, refuse, { publicBaseUrl }) {
    if (settings.FIDO_RP_ID === undefined && settings.FIDO_ORIGIN === undefined) return;
    const strange = strangeOrigin(settings, publicBaseUrl);
    if (strange === undefined) return;
    refuse('FIDO_RP_ID', `FIDO_RP_ID must be the host of every origin, or a domain above it (${strange})`);
  },
  listens: [on(tenantErased, erasePasskeys), on(personTold, tellPasskeys)],
  open(house, settings) {
    const relyingParty = relyingPartyOf(settings, house.publicBaseUrl);
    return { routes: (app) => app.register(passkeyRoutes, { ...house, relyingParty }) };
  },
});
