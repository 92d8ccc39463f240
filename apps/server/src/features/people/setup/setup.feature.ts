import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { connectionActivated, ssoDepsOf, ssoSettings } from '../sso/index.ts';
import { acts } from './setup.acts.ts';
import { setupLinkRoutes } from './setup.links.routes.ts';
import { endLinksOfAccount, endSessionsOfConnection } from './setup.links.service.ts';
import { setupPageRoutes } from './setup.page.routes.ts';
import { rates } from './setup.rates.ts';
import { eraseLinks } from './setup.repo.ts';
import { tables } from './setup.tables.ts';

export const setup = defineFeature({
  name: 'setup',
  tags: { setup: 'Links by which customers’ administrators set up single sign-on and provisioning.' },
  tables,
  acts,
  rates,
  settings: ssoSettings,
  listens: [
    on(accountClosed, endLinksOfAccount),
    on(connectionActivated, endSessionsOfConnection),
    on(tenantErased, eraseLinks),
  ],
  open(house, settings) {
    const deps = ssoDepsOf(house, settings);
    return {
      async routes(app) {
        await app.register(setupLinkRoutes, house);
        await app.register(setupPageRoutes, deps);
      },
    };
  },
});
