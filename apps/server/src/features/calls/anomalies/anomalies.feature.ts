import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { privateHosts } from '../../record/webhooks/index.ts';
import { acts, entries } from './anomalies.acts.ts';
import { anomalyDetection, anomalyMessages } from './anomalies.jobs.ts';
import { rates } from './anomalies.rates.ts';
import { eraseAnomalies, tellAlerts } from './anomalies.repo.ts';
import { anomalyRoutes } from './anomalies.routes.ts';
import { channelSeals, SEAL_KEY_USE, sealedChannels } from './anomalies.seals.service.ts';
import { settingRoutes } from './anomalies.settings.routes.ts';
import { tables } from './anomalies.tables.ts';

export const anomalies = defineFeature({
  name: 'anomalies',
  tags: { anomalies: 'Unusual behaviour of agents: its rules, and the alerts about it.' },
  tables,
  acts: { ...acts, ...entries },
  rates,
  settings: {
    ANOMALY_INTERVAL_SECONDS: defaulted(
      integer(60, 86_400),
      '3600',
      'The time from the end of one periodic detection of anomalies to the beginning of the next.',
    ),
    ...privateHosts,
  },
  keyUses: [SEAL_KEY_USE],
  listens: [on(tenantErased, eraseAnomalies), on(personTold, tellAlerts)],
  open(house, settings) {
    const { ANOMALY_INTERVAL_SECONDS: everySeconds, WEBHOOK_ALLOW_PRIVATE_HOSTS: allowsPrivateHosts } =
      settings;
    const { logger } = house;
    const onFailure = (err: unknown) =>
      logger?.error({ err }, 'work on anomalies failed inside the service, and will be repeated');
    const urlRules = { allowsHttp: !house.isProduction, allowsPrivateHosts };
    const deps = { ...house, urlRules, seals: channelSeals(house.keyRing), onFailure };
    return {
      async routes(app) {
        await app.register(anomalyRoutes, deps);
        await app.register(settingRoutes, deps);
      },
      sealed: [sealedChannels(house.keyRing)],
      jobs: [
        anomalyDetection(deps, everySeconds),
        anomalyMessages({ ...deps, egress: house.openEgress(urlRules) }),
      ],
    };
  },
});
