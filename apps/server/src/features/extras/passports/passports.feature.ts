import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { erasePassports } from './passports.repo.ts';
import { passportRoutes } from './passports.routes.ts';

const tables: TableUse = {
  owns: { passports: { rate: 'plan', kib: 16 }, principal_pseudonyms: { rate: 'plan' } },
  reads: [],
  writes: [],
};

const passportSettings = {
  MPP_PASSPORT_MAX_EXPIRY_HOURS: defaulted(
    integer(1, 8_760),
    '720',
    'The longest life of an agent passport, in hours.',
  ),
};

export const passports = defineFeature({
  name: 'passports',
  tags: { passports: 'Statements about what an agent may pay for, and up to which amount.' },
  tables,
  settings: passportSettings,
  listens: [on(tenantErased, erasePassports)],
  open: (context, { MPP_PASSPORT_MAX_EXPIRY_HOURS: maxExpiryHours }) => ({
    // A passport is of one kind only, which older clients know by its own type.
    routes: (app) => passportRoutes(app, { ...context, issuesLegacyClaims: false, maxExpiryHours }),
  }),
});
