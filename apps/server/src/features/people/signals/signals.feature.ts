import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { userLeft } from '../scim/index.ts';
import { ssoEgress, ssoSettings } from '../sso/index.ts';
import { acts, entries } from './signals.acts.ts';
import { signalPolling, streamVerification } from './signals.jobs.ts';
import { rates } from './signals.rates.ts';
import { eraseSignals } from './signals.repo.ts';
import { signalRoutes } from './signals.routes.ts';
import { SEAL_KEY_USE, sealedStreams } from './signals.seals.service.ts';
import { tables } from './signals.tables.ts';

export const signals = defineFeature({
  name: 'signals',
  tags: { signals: 'Identity providers that tell of ended sessions and disabled accounts.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['signal.refused'],
  rates,
  settings: ssoSettings,
  listens: [on(tenantErased, eraseSignals)],
  keyUses: [SEAL_KEY_USE],
  open(house, settings) {
    const { logger } = house;
    const deps = {
      ...house,
      upstream: ssoEgress(house, settings),
      onUserLeft: house.listenersOf(userLeft),
      onFailure: (err: unknown) =>
        logger?.warn({ err }, 'a stream of signals could not be polled or verified'),
    };
    return {
      sealed: [sealedStreams(house.keyRing)],
      jobs: [signalPolling(deps), streamVerification(deps)],
      routes: (app) => app.register(signalRoutes, deps),
    };
  },
});
