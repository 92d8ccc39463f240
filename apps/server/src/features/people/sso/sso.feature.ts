import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { userLeft } from '../scim/index.ts';
import { acts, entries } from './sso.acts.ts';
import { ssoConnectionRoutes } from './sso.connections.routes.ts';
import { ssoDirectoryRoutes } from './sso.directory.routes.ts';
import { STATE_KEY_USE } from './sso.keys.service.ts';
import { ssoLoginRoutes } from './sso.login.routes.ts';
import { ssoDepsOf } from './sso.open.service.ts';
import { quotas } from './sso.quotas.ts';
import { rates } from './sso.rates.ts';
import { eraseSso, tellSignOns } from './sso.repo.ts';
import { connectionRotation, sealedConnections } from './sso.rotate.service.ts';
import { endSessionsOfUser } from './sso.sessions.service.ts';
import { ssoSettings } from './sso.settings.ts';
import { tables } from './sso.tables.ts';

export const sso = defineFeature({
  name: 'sso',
  tags: { sso: 'Identity providers of customers, and the logins of people there.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['sso.login_failed'],
  rates,
  quotas,
  settings: ssoSettings,
  keyUses: [STATE_KEY_USE],
  listens: [on(userLeft, endSessionsOfUser), on(tenantErased, eraseSso), on(personTold, tellSignOns)],
  open(house, settings) {
    const deps = ssoDepsOf(house, settings);
    const rotation = { ...deps, warn: (message: string) => house.logger?.warn(message) };
    return {
      sealed: [sealedConnections(rotation.vault)],
      jobs: [connectionRotation(rotation)],
      async routes(app) {
        await app.register(ssoConnectionRoutes, deps);
        await app.register(ssoLoginRoutes, deps);
        await app.register(ssoDirectoryRoutes, deps);
      },
    };
  },
});
