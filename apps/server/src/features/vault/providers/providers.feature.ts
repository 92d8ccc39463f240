import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { acts, entries } from './providers.acts.ts';
import { providerDeleted } from './providers.hooks.ts';
import { providerRotation } from './providers.jobs.ts';
import { quotas } from './providers.quotas.ts';
import { rates } from './providers.rates.ts';
import { eraseProviders } from './providers.repo.ts';
import { sealedProviders } from './providers.rotate.service.ts';
import { providerRoutes } from './providers.routes.ts';
import { connectEgress, connectSettings } from './providers.settings.ts';
import { tables } from './providers.tables.ts';

export const providers = defineFeature({
  name: 'providers',
  tags: { providers: 'Upstreams at which people connect their accounts.' },
  tables,
  acts: { ...acts, ...entries },
  rates,
  quotas,
  settings: connectSettings,
  listens: [on(tenantErased, eraseProviders)],
  open(house, settings) {
    const deps = {
      ...house,
      vault: house.keyRing.vault,
      upstream: connectEgress(house, settings),
      onDeleted: house.listenersOf(providerDeleted),
      warn: (message: string) => house.logger?.warn(message),
    };
    return {
      routes: (app) => app.register(providerRoutes, deps),
      sealed: [sealedProviders(deps.vault)],
      jobs: [providerRotation(deps)],
    };
  },
});
