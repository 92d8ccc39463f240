import { boolean, integer, notInProduction } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { callGate, meterSettings } from '../../calls/enforcement/index.ts';
import { openingDeps, openingSettings, rates as vaultRates } from '../credentials/index.ts';
import { acts, entries } from './proxy.acts.ts';
import { callRoutes } from './proxy.call.routes.ts';
import { eraseProxy } from './proxy.calls.repo.ts';
import { createFlights } from './proxy.flights.service.ts';
import { forgettingOfProxyCalls } from './proxy.jobs.ts';
import { profileRoutes } from './proxy.profile.routes.ts';
import { quotas } from './proxy.quotas.ts';
import { rates } from './proxy.rates.ts';
import { createStreams } from './proxy.streams.service.ts';
import { tables } from './proxy.tables.ts';

const LEAST_BYTES = 1024;
const MOST_BYTES = 1_073_741_824;

export const proxy = defineFeature({
  name: 'proxy',
  tags: {},
  tables,
  acts: { ...acts, ...entries },
  attempts: ['vault.proxy_blocked'],
  rates,
  quotas,
  settings: {
    ...openingSettings,
    ...meterSettings,
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
      integer(LEAST_BYTES, MOST_BYTES),
      '10485760',
      'The largest body of a request through the vault proxy, in bytes.',
    ),
    VAULT_PROXY_MAX_RESPONSE_BYTES: defaulted(
      integer(LEAST_BYTES, MOST_BYTES),
      '52428800',
      'The largest body of an answer through the vault proxy, in bytes.',
    ),
    VAULT_PROXY_STREAM_SECONDS: defaulted(
      integer(60, 3600),
      '900',
      'How long a stream of events through the vault proxy may last.',
    ),
  },
  listens: [on(tenantErased, eraseProxy)],
  open(house, settings) {
    const allowsPrivateHosts = settings.VAULT_PROXY_ALLOW_PRIVATE_HOSTS;
    const urlRules = { allowsHttp: allowsPrivateHosts, allowsPrivateHosts };
    const deps = {
      ...house,
      ...openingDeps(house, settings),
      gate: callGate(house, settings),
      egress: house.openEgress(urlRules),
      urlRules,
      bounds: {
        maxRequestBytes: settings.VAULT_PROXY_MAX_REQUEST_BYTES,
        maxResponseBytes: settings.VAULT_PROXY_MAX_RESPONSE_BYTES,
      },
      streamSeconds: settings.VAULT_PROXY_STREAM_SECONDS,
      flights: createFlights(),
      streams: createStreams(house),
    };
    return {
      async routes(app) {
        await app.register(profileRoutes, { ...deps, writeRate: vaultRates.vaultWrite });
        await app.register(callRoutes, deps);
      },
      jobs: [forgettingOfProxyCalls(deps)],
    };
  },
});
