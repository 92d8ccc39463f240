import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { erasePassports } from './passports.repo.ts';
import { passportRoutes } from './passports.routes.ts';
import { passportSettings } from './passports.settings.ts';
import { tables } from './passports.tables.ts';

export const passports = defineFeature({
  name: 'passports',
  tags: { passports: 'Statements about what an agent may pay for, and up to which amount.' },
  tables,
  settings: passportSettings,
  listens: [on(tenantErased, erasePassports)],
  open: (house, { MPP_PASSPORT_MAX_EXPIRY_HOURS: maxExpiryHours }) => ({
    // A passport is of one kind only, which older clients know by its own type.
    routes: (app) => app.register(passportRoutes, { ...house, issuesLegacyClaims: false, maxExpiryHours }),
  }),
});
