import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { passkeySettings } from '../../people/passkeys/index.ts';
import { userLeft } from '../../people/scim/index.ts';
import { acts, entries } from './approvers.acts.ts';
import { authenticateApprover } from './approvers.authenticate.service.ts';
import { removeApproversOfUser } from './approvers.manage.service.ts';
import { approverDeps } from './approvers.open.service.ts';
import { approverPageRoutes } from './approvers.page.routes.ts';
import { approverPasskeyRoutes } from './approvers.passkeys.routes.ts';
import { quotas } from './approvers.quotas.ts';
import { rates } from './approvers.rates.ts';
import { approverRecoveryRoutes } from './approvers.recovery.routes.ts';
import { eraseApprovers, tellApprovers } from './approvers.repo.ts';
import { approverRoutes } from './approvers.routes.ts';
import { CSRF_KEY_USE } from './approvers.session.service.ts';
import { settings } from './approvers.settings.ts';
import { tables } from './approvers.tables.ts';

export const approvers = defineFeature({
  name: 'approvers',
  tags: {
    approvers: 'The people who decide about exact calls of agents.',
    approver: 'Calls of the page on which approvers decide.',
  },
  tables,
  acts: { ...acts, ...entries },
  rates,
  quotas,
  settings: { ...passkeySettings, ...settings },
  keyUses: [CSRF_KEY_USE],
  listens: [
    on(userLeft, removeApproversOfUser),
    on(tenantErased, eraseApprovers),
    on(personTold, tellApprovers),
  ],
  open(house, chosen) {
    const deps = approverDeps(house, chosen);
    return {
      async routes(app) {
        await app.register(approverRoutes, deps);
        await app.register(approverPageRoutes, deps);
        await app.register(approverPasskeyRoutes, deps);
        await app.register(approverRecoveryRoutes, deps);
      },
      credentials: { approver: authenticateApprover(deps) },
    };
  },
});
