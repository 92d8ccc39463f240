import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import type { Rotation } from '../../../platform/envelope.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { rates } from './credentials.rates.ts';
import { eraseCredentials, tellCredentials } from './credentials.repo.ts';
import { credentialRoutes, exchangeRoutes } from './credentials.routes.ts';
import { openingDeps, openingSettings, vaultParts } from './credentials.settings.ts';
import { deleteCredentialsOfAccount } from './delete.ts';
import type { CredentialDeps, Unrevoked } from './deps.ts';
import { credentialDisconnected, finishDisconnections } from './disconnect.ts';
import { countUnderFormerKeys, rotateKeys, sealedCredentials } from './rotate.ts';

const tables: TableUse = {
  owns: { vault_credentials: { quota: 'vault_credentials', kib: 64 } },
  // An exchange reads the profile with the credential, and checks the others in the statement that records it.
  reads: ['tokens', 'vault_proxy_profiles'],
  writes: [],
};

const quotas = {
  vault_credentials: {
    free: 5000,
    pro: 500_000,
    enterprise: 'unlimited',
    describes: 'credentials in the vault',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

/** While instances restart with a new key, those with the old one may seal under it once more. */
const EVERY_SECONDS = 60;

function vaultRotation(deps: Rotation): Job {
  return { name: 'vault rotation', everySeconds: EVERY_SECONDS, run: (signal) => rotateKeys(deps, signal) };
}

/** A disconnection that a crash cut off ends within a minute. */
const SWEEP_SECONDS = 20;

function endOfDisconnections(deps: CredentialDeps): Job {
  return {
    name: 'end of disconnections',
    everySeconds: SWEEP_SECONDS,
    run: (signal) => finishDisconnections(deps, signal),
  };
}

interface Named {
  readonly credentialId: string;
  readonly service: string;
}

interface OfProvider extends Named {
  readonly providerId: string;
}

const acts = {
  'vault.credential.stored': act<Named & { readonly credentialType: string; readonly replaced: boolean }>(),
  'vault.credential.deleted': act<
    Named & { readonly reason: 'api' | 'principal_request' | 'developer_deleted' | 'principal_offboarded' }
  >(),
  'vault.credential.exchanged': act<Named>(),
  'vault.credential.refreshed': act<Named & { readonly tokenExpiresAt: string | null }>(),
  'vault.credential.refresh_failed': act<Named & { readonly error: string }>(),
  'vault.connection.reauthorization_required': act<
    OfProvider & { readonly reason: string; readonly missingScopes?: readonly string[] }
  >(),
  'vault.connection.disconnected': act<
    OfProvider & { readonly by: string; readonly upstream: 'revoked' | 'failed' | 'unsupported' }
  >(),
};

const entries = {
  'vault.exchange_blocked': entryOnly(),
  'vault.key.rotated': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'vault.exchange_blocked': true;
  }
  interface Entries {
    'vault.key.rotated': { readonly fromKeyId: string; readonly toKeyId: string; readonly count: number };
  }
}

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
    on(personExported, tellCredentials),
  ],
  open(context, settings) {
    const exchanges = context.metrics.counter('vault_exchange_total');
    const deps = {
      ...context,
      ...context.provide(vaultParts, openingDeps(context, settings)),
      onDisconnected: context.listenersOf(credentialDisconnected),
      onUnrevoked: ({ credentialId, failure }: Unrevoked) =>
        context.logger?.warn(
          { credentialId, failure },
          'an upstream did not revoke the tokens of a deleted credential',
        ),
      warn: (message: string) => context.logger?.warn(message),
      onExchangeAnswered: (status: string) => exchanges.inc({ status }),
    };
    context.metrics.ask('vault_credentials_under_former_keys', () => countUnderFormerKeys(deps));
    return {
      async routes(app) {
        await app.register(exchangeRoutes, deps);
        await credentialRoutes(app, deps);
      },
      sealed: [sealedCredentials(deps.vault)],
      jobs: [vaultRotation(deps), endOfDisconnections(deps)],
    };
  },
});
