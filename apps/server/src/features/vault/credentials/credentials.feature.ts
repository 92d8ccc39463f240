import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { acts, entries } from './credentials.acts.ts';
import { deleteCredentialsOfAccount } from './credentials.delete.service.ts';
import type { Unrevoked } from './credentials.deps.service.ts';
import { exchangeRoutes } from './credentials.exchange.routes.ts';
import { endOfDisconnections, vaultRotation } from './credentials.jobs.ts';
import { quotas } from './credentials.quotas.ts';
import { rates } from './credentials.rates.ts';
import { eraseCredentials, tellCredentials } from './credentials.repo.ts';
import { countUnderFormerKeys, sealedCredentials } from './credentials.rotate.service.ts';
import { credentialRoutes } from './credentials.routes.ts';
import { openingDeps, openingSettings } from './credentials.settings.ts';
import { tables } from './credentials.tables.ts';

export const credentials = defineFeature({
  name: 'credentials',
  tags: { vault: 'Upstream credentials of principals, which the vault keeps sealed.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['vault.exchange_blocked'],
  rates,
  quotas,
  metrics: {
    vault_credentials_under_former_keys: {
      kind: 'asked',
      help: 'Credentials whose data keys a former vault key seals.',
    },
    vault_exchange_total: {
      kind: 'counter',
      help: 'Requests for the exchange of a credential, by class of their status.',
      labels: ['status'],
    },
    vault_decrypt_failures_total: {
      kind: 'counter',
      help: 'Exchanges that failed because the stored credential did not open.',
    },
  },
  settings: openingSettings,
  listens: [
    on(accountClosed, deleteCredentialsOfAccount),
    on(tenantErased, eraseCredentials),
    on(personTold, tellCredentials),
  ],
  open(house, settings) {
    const exchanges = house.metrics.counter('vault_exchange_total');
    const deps = {
      ...house,
      ...openingDeps(house, settings),
      onUnrevoked: ({ credentialId, failure }: Unrevoked) =>
        house.logger?.warn(
          { credentialId, failure },
          'an upstream did not revoke the tokens of a deleted credential',
        ),
      warn: (message: string) => house.logger?.warn(message),
      onExchangeAnswered: (status: string) => exchanges.inc({ status }),
    };
    house.metrics.ask('vault_credentials_under_former_keys', () => countUnderFormerKeys(deps));
    return {
      async routes(app) {
        await app.register(exchangeRoutes, deps);
        await app.register(credentialRoutes, deps);
      },
      sealed: [sealedCredentials(deps.vault)],
      jobs: [vaultRotation(deps), endOfDisconnections(deps)],
    };
  },
});
