import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { acts } from './wallet-authorizations.acts.ts';
import { eraseAuthorizations, tellAuthorizations } from './wallet-authorizations.repo.ts';
import { walletRoutes } from './wallet-authorizations.routes.ts';
import { tables } from './wallet-authorizations.tables.ts';

export const walletAuthorizations = defineFeature({
  name: 'wallet-authorizations',
  tags: { walletAuthorizations: 'Statements, each for one use, that an agent may move an amount.' },
  tables,
  acts,
  listens: [on(tenantErased, eraseAuthorizations), on(personTold, tellAuthorizations)],
  open: (house) => ({ routes: (app) => app.register(walletRoutes, house) }),
});
