import { defineFeature } from '../../../feature.ts';
import { entryOnly } from '../../../platform/acts.ts';
import { personErased, personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { webauthnRelyingParty } from '../../people/passkeys/index.ts';
import { enforcementBegan } from '../../people/sso/index.ts';
import { authorizationParts } from '../authorization/index.ts';
import { eraseConsents, eraseRecordsOf, tellRecords } from './consent.repo.ts';
import { consentPasskeyRoutes, consentRoutes, rates } from './consent.routes.ts';
import { authenticateConsent, CSRF_KEY_USE } from './session.ts';
import { endPages } from './verify.ts';

const tables: TableUse = {
  owns: { consent_mails: { most: 1 }, consent_records: { of: 'auth_requests', kib: 48 } },
  reads: ['auth_requests'],
  writes: [],
};

const quotas = {
  consent_mails: {
    free: 100,
    pro: 1000,
    enterprise: 10_000,
    describes: 'codes that the consent page mails in a calendar day (UTC)',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

const entries = {
  'consent.verification_failed': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Attempts {
    'consent.verification_failed': true;
  }
}

export const consent = defineFeature({
  name: 'consent',
  tags: { consent: 'Calls of the page on which the person decides.' },
  tables,
  acts: entries,
  attempts: ['consent.verification_failed'],
  rates,
  quotas,
  keyUses: [CSRF_KEY_USE],
  listens: [
    on(tenantErased, eraseConsents),
    on(personExported, tellRecords),
    on(personErased, eraseRecordsOf),
    on(enforcementBegan, endPages),
  ],
  open(context) {
    const onMailFailed = () => context.metrics.counter('mail_failed').inc();
    const relyingParty = context.take(webauthnRelyingParty);
    const deps = { ...context, ...context.take(authorizationParts), onMailFailed, relyingParty };
    return {
      async routes(app) {
        await consentRoutes(app, deps);
        await consentPasskeyRoutes(app, deps);
      },
      credentials: { consent: authenticateConsent(deps) },
    };
  },
});
