import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { acts } from './principals.acts.ts';
import { rates } from './principals.rates.ts';
import { eraseSessions, tellSessions } from './principals.repo.ts';
import { principalRoutes } from './principals.routes.ts';
import { endSessionsOfAccount, sessionReader } from './principals.session.service.ts';
import { tables } from './principals.tables.ts';

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
