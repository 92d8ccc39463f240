import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { acts } from './principals.acts.ts';
import { eraseSessions, tellSessions } from './principals.repo.ts';
import { principalRoutes, rates } from './principals.routes.ts';
import { endSessionsOfAccount, sessionReader } from './session.ts';

const tables: TableUse = {
  owns: { principal_sessions: { rate: 'principalSession', kept: 'until they expire' } },
  reads: [],
  writes: [],
};

export const principals = defineFeature({
  name: 'principals',
  tags: { principals: 'Calls of the page on which a person sees and ends grants.' },
  tables,
  acts,
  rates,
  listens: [
    on(accountClosed, endSessionsOfAccount),
    on(tenantErased, eraseSessions),
    on(personTold, tellSessions),
  ],
  open: (house) => ({
    routes: (app) => app.register(principalRoutes, house),
    credentials: { session: sessionReader(house) },
  }),
});
