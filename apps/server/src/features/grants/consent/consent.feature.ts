import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { passkeySettings, relyingPartyOf } from '../../people/passkeys/index.ts';
import { enforcementBegan } from '../../people/sso/index.ts';
import { authorizationDeps, authorizationSettings } from '../authorization/index.ts';
import { entries } from './consent.acts.ts';
import { consentPasskeyRoutes } from './consent.passkey.routes.ts';
import { quotas } from './consent.quotas.ts';
import { rates } from './consent.rates.ts';
import { eraseConsentMails } from './consent.repo.ts';
import { consentRoutes } from './consent.routes.ts';
import { authenticateConsent, CSRF_KEY_USE } from './consent.session.service.ts';
import { endPages } from './consent.sign-on.service.ts';
import { tables } from './consent.tables.ts';

export const consent = defineFeature({
  name: 'consent',
  tags: { consent: 'Calls of the page on which the person decides.' },
  tables,
  acts: entries,
  attempts: ['consent.verification_failed'],
  rates,
  quotas,
  settings: { ...authorizationSettings, ...passkeySettings },
  keyUses: [CSRF_KEY_USE],
  listens: [on(tenantErased, eraseConsentMails), on(enforcementBegan, endPages)],
  open(house, settings) {
    const onMailFailed = () => house.metrics.counter('mail_failed').inc();
    const relyingParty = relyingPartyOf(settings, house.publicBaseUrl);
    const deps = { ...house, ...authorizationDeps(house, settings), onMailFailed, relyingParty };
    return {
      async routes(app) {
        await app.register(consentRoutes, deps);
        await app.register(consentPasskeyRoutes, deps);
      },
      credentials: { consent: authenticateConsent(deps) },
    };
  },
});
