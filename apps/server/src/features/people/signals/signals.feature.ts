import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { userLeft } from '../scim/index.ts';
import { ssoEgress, ssoSettings } from '../sso/index.ts';
import { acts, entries } from './signals.acts.ts';
import { rates } from './signals.rates.ts';
import { eraseSignals } from './signals.repo.ts';
import { signalRoutes } from './signals.routes.ts';
import { tables } from './signals.tables.ts';

export const signals = defineFeature({
  name: 'signals',
  tags: { signals: 'Identity providers that tell of ended sessions and disabled accounts.' },
  knows: ['audit', 'providers', 'scim', 'sso'],
  tables,
  acts: { ...acts, ...entries },
  attempts: ['signal.refused'],
  rates,
  settings: ssoSettings,
  listens: [on(tenantErased, eraseSignals)],
  open: (house, settings) => ({
    routes: (app) =>
      app.register(signalRoutes, {
        ...house,
        upstream: ssoEgress(house, settings),
        onUserLeft: house.listenersOf(userLeft),
      }),
  }),
});
