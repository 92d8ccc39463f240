import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { openEnvelope, type Portion, type Rotation, rotationOf } from '../../../platform/envelope.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { recordEntry } from '../../record/audit/index.ts';
import { foundOf, sealedFor } from './client.ts';
import {
  eraseProviders,
  listProvidersUnderAcrossTenants,
  nextProviderKeyAcrossTenants,
  type ProviderRow,
  replaceProviderKey,
} from './providers.repo.ts';
import { providerRoutes, rates } from './providers.routes.ts';
import { connectEgress, connectSettings, connectUpstreams } from './providers.settings.ts';
import { providerDeleted } from './show.ts';

const tables: TableUse = {
  owns: { vault_providers: { quota: 'vault_providers', kib: 64 } },
  reads: [],
  writes: [],
};

const { rows: sealedProviders, rotate: rotateProviderKeys } = rotationOf<ProviderRow>({
  warning: 'clients of providers open under no configured key, and have to be sent again',
  nextKeyId: nextProviderKeyAcrossTenants,
  listUnder: listProvidersUnderAcrossTenants,
  seal: sealProviders,
});

/** Each provider has its own entry. */
async function sealProviders(
  { db, clock, vault, warn }: Rotation,
  { developerId, rows, fromKeyId, current }: Portion<ProviderRow>,
): Promise<void> {
  const tenant = { developerId };
  for (const row of rows) {
    const owner = sealedFor(tenant, row.id, foundOf(row).tokenEndpoint);
    const envelope = row.dataKey === null ? undefined : openEnvelope(vault, row.dataKey, owner);
    if (!envelope) {
      warn(`the client of ${row.id} does not open under the vault key ${fromKeyId}`);
      continue;
    }
    const { dataKey, keyId } = envelope.under(current);
    await inTransaction(db, async (tx) => {
      if (!(await replaceProviderKey(tx, tenant, row, { dataKey, keyId }))) return;
      const data = { fromKeyId, toKeyId: current.id, count: 1 };
      const caller = systemCaller(tenant, { mode: 'live', plan: 'free' }, 'vault rotation');
      await recordEntry(tx, caller, { action: 'vault.provider_key.rotated', data }, clock());
    });
  }
}

const quotas = {
  vault_providers: {
    free: 50,
    pro: 500,
    enterprise: 'unlimited',
    describes: 'providers of connected accounts',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

/** While instances restart with a new key, those with the old one may seal under it once more. */
const EVERY_SECONDS = 60;

function providerRotation(deps: Rotation): Job {
  return {
    name: 'provider rotation',
    everySeconds: EVERY_SECONDS,
    run: (signal) => rotateProviderKeys(deps, signal),
  };
}

interface Named {
  readonly providerId: string;
  readonly service: string;
}

const acts = {
  'vault.provider.created': act<Named>(),
  'vault.provider.updated': act<Named & { readonly changed: readonly string[] }>(),
  'vault.provider.deleted': act<Named>(),
  'vault.provider.failed': act<Named & { readonly error: string }>(),
};

const entries = { 'vault.provider_key.rotated': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'vault.provider_key.rotated': {
      readonly fromKeyId: string;
      readonly toKeyId: string;
      readonly count: number;
    };
  }
}

export const providers = defineFeature({
  name: 'providers',
  tags: { providers: 'Upstreams at which people connect their accounts.' },
  tables,
  acts: { ...acts, ...entries },
  rates,
  quotas,
  settings: connectSettings,
  listens: [on(tenantErased, eraseProviders)],
  open(context, settings) {
    const deps = {
      ...context,
      vault: context.keyRing.vault,
      upstream: context.provide(connectUpstreams, connectEgress(context, settings)),
      onDeleted: context.listenersOf(providerDeleted),
      warn: (message: string) => context.logger?.warn(message),
    };
    return {
      routes: (app) => providerRoutes(app, deps),
      sealed: [sealedProviders(deps.vault)],
      jobs: [providerRotation(deps)],
    };
  },
});
