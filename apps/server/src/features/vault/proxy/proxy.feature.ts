import { boolean, integer, notInProduction } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { callGate } from '../../calls/enforcement/index.ts';
import { callsCounted } from '../../grants/grants/index.ts';
import { vaultParts, rates as vaultRates } from '../credentials/index.ts';
import { callRoutes } from './call.routes.ts';
import { rates } from './call.ts';
import { countRunning, deleteOldProxyCallsAcrossTenants, eraseProxy } from './calls.repo.ts';
import { profileRoutes } from './profile.routes.ts';
import { createFlights, createStreams } from './streams.ts';

const tables: TableUse = {
  owns: {
    vault_proxy_profiles: { quota: 'proxy_profiles', kib: 64 },
    vault_proxy_calls: { rate: 'vaultProxy', kept: '30 days' },
  },
  // A call checks them in the statement that records it.
  reads: ['tokens', 'grants', 'agents', 'developers', 'vault_credentials'],
  writes: [],
};

const quotas = {
  proxy_profiles: { free: 50, pro: 500, enterprise: 'unlimited', describes: 'profiles of the vault proxy' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

const EVERY_SECONDS = 3600;
const AT_ONCE = 1000;
const KEPT_MS = 30 * 86_400_000;

/** Deletes calls of more than thirty days ago. */
function forgettingOfProxyCalls({ db, clock }: { readonly db: Executor; readonly clock: Clock }): Job {
  return {
    name: 'forgetting of proxy calls',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      const before = new Date(clock().getTime() - KEPT_MS);
      while (!signal.aborted && (await deleteOldProxyCallsAcrossTenants(db, before, AT_ONCE)) === AT_ONCE);
    },
  };
}

interface CalledData {
  readonly callId: string;
  readonly credentialId: string;
  readonly service: string;
  readonly upstream: string;
  readonly method: string;
  readonly rule: string;
  readonly tool?: string;
}

const acts = {
  'vault.proxy.called': act<CalledData>(),
  'vault.proxy_profile.updated': act<{
    readonly service: string;
    readonly version: number;
    readonly exchange: 'allowed' | 'proxy_only';
  }>(),
  'vault.proxy_profile.deleted': act<{ readonly service: string }>(),
};

const entries = { 'vault.proxy_blocked': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'vault.proxy_blocked': true;
  }
}

const LEAST_BYTES = 1024;
const MAX_BYTES = 1_073_741_824;

export const proxy = defineFeature({
  name: 'proxy',
  tags: {},
  tables,
  acts: { ...acts, ...entries },
  attempts: ['vault.proxy_blocked'],
  rates,
  quotas,
  settings: {
    VAULT_PROXY_ALLOW_PRIVATE_HOSTS: defaulted(
      notInProduction(
        boolean,
        (value) => value,
        'VAULT_PROXY_ALLOW_PRIVATE_HOSTS must not be true in production',
      ),
      'false',
      'Whether the vault proxy calls this machine and private networks, and over `http`. The service refuses it in production.',
    ),
    VAULT_PROXY_MAX_REQUEST_BYTES: defaulted(
      integer(LEAST_BYTES, MAX_BYTES),
      '10485760',
      'The largest body of a request through the vault proxy, in bytes.',
    ),
    VAULT_PROXY_MAX_RESPONSE_BYTES: defaulted(
      integer(LEAST_BYTES, MAX_BYTES),
      '52428800',
      'The largest body of an answer through the vault proxy, in bytes.',
    ),
    VAULT_PROXY_STREAM_SECONDS: defaulted(
      integer(60, 3600),
      '900',
      'How long a stream of events through the vault proxy may last.',
    ),
  },
  listens: [on(tenantErased, eraseProxy), on(callsCounted, countRunning)],
  open(context, settings) {
    const allowsPrivateHosts = settings.VAULT_PROXY_ALLOW_PRIVATE_HOSTS;
    const urlRules = { allowsHttp: allowsPrivateHosts, allowsPrivateHosts };
    const deps = {
      ...context,
      ...context.take(vaultParts),
      gate: callGate(context),
      egress: context.openEgress(urlRules),
      urlRules,
      bounds: {
        maxRequestBytes: settings.VAULT_PROXY_MAX_REQUEST_BYTES,
        maxResponseBytes: settings.VAULT_PROXY_MAX_RESPONSE_BYTES,
      },
      streamSeconds: settings.VAULT_PROXY_STREAM_SECONDS,
      flights: createFlights(),
      streams: createStreams(context),
    };
    return {
      async routes(app) {
        await profileRoutes(app, { ...deps, writeRate: vaultRates.vaultWrite });
        await app.register(callRoutes, deps);
      },
      jobs: [forgettingOfProxyCalls(deps)],
    };
  },
});
