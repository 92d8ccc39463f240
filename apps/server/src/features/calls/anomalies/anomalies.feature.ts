import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { messageUrlRules } from '../../record/webhooks/index.ts';
import { eraseAnomalies, tellAlerts } from './anomalies.repo.ts';
import { anomalyRoutes, rates } from './anomalies.routes.ts';
import { channelSeals, SEAL_KEY_USE } from './channels.ts';
import { type PeriodicDeps, runDetection } from './detect.ts';
import { messageRates, type SendDeps, sendMessages } from './messages.ts';
import { settingRoutes } from './settings.routes.ts';

const tables: TableUse = {
  owns: {
    anomaly_states: { most: 1 },
    anomaly_counts: { of: 'agents', each: 200, kib: 0.25 },
    anomaly_sightings: { rate: 'plan', kept: 'until they are over' },
    anomalies: { rate: 'plan', kib: 16 },
    anomaly_rules: { most: 100, kib: 16 },
    anomaly_channels: { most: 20 },
    anomaly_messages: { rate: 'plan', kept: 'until they are sent', kib: 16 },
  },
  reads: ['audit_entries', 'budget_allocations', 'budget_transactions', 'grants'], // detection looks at them
  writes: [],
};

function anomalyDetection(deps: PeriodicDeps, everySeconds: number): Job {
  return { name: 'anomaly detection', everySeconds, run: (signal) => runDetection(deps, signal) };
}

const EVERY_SECONDS = 30;

function anomalyMessages(deps: SendDeps): Job {
  return {
    name: 'messages about anomalies',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await sendMessages(deps)) > 0);
    },
  };
}

interface OfAlert {
  readonly alertId: string;
  readonly ruleId: string;
}

const acts = {
  'anomaly.detected': act<
    OfAlert & { readonly type: string; readonly severity: string; readonly description: string }
  >(),
  'anomaly.acknowledged': act<OfAlert>(),
  'anomaly.resolved': act<OfAlert>(),
  'anomaly.channel_disabled': act<{ readonly channelId: string; readonly reason: 'gone' }>(),
  'anomaly.auto_revoked': act<{ readonly alertId: string; readonly revokedGrants: number }>(),
};

const entries = {
  'anomaly.rule_changed': entryOnly(),
  'anomaly.channel_changed': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'anomaly.channel_changed': { readonly channelId: string; readonly changed: readonly string[] };
    'anomaly.rule_changed': { readonly ruleId: string; readonly changed: readonly string[] };
  }
}

export const anomalies = defineFeature({
  name: 'anomalies',
  tags: { anomalies: 'Unusual behaviour of agents: its rules, and the alerts about it.' },
  tables,
  acts: { ...acts, ...entries },
  rates: { ...rates, ...messageRates },
  settings: {
    ANOMALY_INTERVAL_SECONDS: defaulted(
      integer(60, 86_400),
      '3600',
      'The time from the end of one periodic detection of anomalies to the beginning of the next.',
    ),
  },
  keyUses: [SEAL_KEY_USE],
  listens: [on(tenantErased, eraseAnomalies), on(personExported, tellAlerts)],
  open(context, settings) {
    const { ANOMALY_INTERVAL_SECONDS: everySeconds } = settings;
    const { logger } = context;
    const onFailure = (err: unknown) =>
      logger?.error({ err }, 'work on anomalies failed inside the service, and will be repeated');
    const urlRules = context.take(messageUrlRules);
    const seals = channelSeals(context.keyRing);
    const deps = { ...context, urlRules, seals, onFailure };
    return {
      async routes(app) {
        await anomalyRoutes(app, deps);
        await settingRoutes(app, deps);
      },
      sealed: [seals.rows],
      jobs: [
        anomalyDetection(deps, everySeconds),
        anomalyMessages({ ...deps, egress: context.openEgress(urlRules) }),
      ],
    };
  },
});
