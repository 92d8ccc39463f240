import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { acts } from './scim.acts.ts';
import { scimBulkRoutes } from './scim.bulk.routes.ts';
import { scimDiscoveryRoutes } from './scim.discovery.routes.ts';
import { scimGroupRoutes } from './scim.groups.routes.ts';
import { userLeft } from './scim.hooks.ts';
import { quotas } from './scim.quotas.ts';
import { rates } from './scim.rates.ts';
import { eraseDirectory } from './scim.repo.ts';
import { tables } from './scim.tables.ts';
import { scimTokenRoutes } from './scim.tokens.routes.ts';
import { findProvisioner, removeTokens } from './scim.tokens.service.ts';
import { tellUser } from './scim.told.repo.ts';
import { scimUserRoutes } from './scim.users.routes.ts';

export const scim = defineFeature({
  name: 'scim',
  tags: {
    scimTokens: 'Credentials with which identity providers provision people.',
    scim: 'People and groups as an identity provider tells of them: SCIM 2.0.',
  },
  tables,
  acts,
  rates,
  quotas,
  listens: [on(accountClosed, removeTokens), on(tenantErased, eraseDirectory), on(personTold, tellUser)],
  open: (house) => ({
    credentials: { scim: (hash) => findProvisioner(house, hash) },
    async routes(app) {
      const deps = { ...house, onUserLeft: house.listenersOf(userLeft) };
      await app.register(scimTokenRoutes, house);
      await app.register(scimUserRoutes, deps);
      await app.register(scimGroupRoutes, deps);
      await app.register(scimBulkRoutes, deps);
      await app.register(scimDiscoveryRoutes, house);
    },
  }),
});
