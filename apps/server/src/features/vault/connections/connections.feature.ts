import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { passkeySettings, relyingPartyOf } from '../../people/passkeys/index.ts';
import type { Unrevoked } from '../credentials/index.ts';
import { connectEgress, connectSettings, providerDeleted } from '../providers/index.ts';
import { acts, entries } from './connections.acts.ts';
import { askRoutes } from './connections.ask.routes.ts';
import { authenticateConnect, CSRF_KEY_USE } from './connections.browser.service.ts';
import { cancelSessionsOfProvider } from './connections.end.service.ts';
import { expiryOfConnectSessions } from './connections.jobs.ts';
import { proofRoutes } from './connections.proof.routes.ts';
import { rates } from './connections.rates.ts';
import { eraseConnectSessions } from './connections.repo.ts';
import { connectRoutes } from './connections.routes.ts';
import { STATE_KEY_USE } from './connections.start.service.ts';
import { tables } from './connections.tables.ts';

export const connections = defineFeature({
  name: 'connections',
  tags: { connections: 'Links and the page by which people connect their accounts.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['vault.connection.blocked'],
  rates,
  settings: { ...connectSettings, ...passkeySettings },
  keyUses: [CSRF_KEY_USE, STATE_KEY_USE],
  listens: [on(providerDeleted, cancelSessionsOfProvider), on(tenantErased, eraseConnectSessions)],
  open(house, settings) {
    const egress = connectEgress(house, settings);
    const deps = {
      ...house,
      relyingParty: relyingPartyOf(settings, house.publicBaseUrl),
      vault: house.keyRing.vault,
      upstream: egress,
      connected: egress,
      onMailFailed: () => house.metrics.counter('mail_failed').inc(),
      onUnrevoked: ({ credentialId, failure }: Unrevoked) =>
        house.logger?.warn(
          { credentialId, failure },
          'an upstream did not revoke the tokens of a connected account',
        ),
    };
    return {
      async routes(app) {
        await app.register(askRoutes, deps);
        await app.register(connectRoutes, deps);
        await app.register(proofRoutes, deps);
      },
      credentials: { connect: authenticateConnect(deps) },
      jobs: [expiryOfConnectSessions(deps)],
    };
  },
});
