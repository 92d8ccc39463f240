import { defineFeature } from '../../../feature.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { manifestLibrary } from '../../grants/manifests/index.ts';
import { grantTokenVerifier } from '../../grants/tokens/index.ts';
import { decisionsAsked, enforcementParts } from './enforce.ts';
import { deleteOldCallsAcrossTenants, eraseCalls } from './enforcement.repo.ts';
import { enforcementRoutes } from './enforcement.routes.ts';
import { openMeter, settings, storeOfMeter } from './meter.ts';
import { acts } from './record.ts';

const EVERY_SECONDS = 3600;
const AT_ONCE = 1000;

interface ForgettingDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly callRecordSeconds: number;
}

/** Deletes calls that the meter has forgotten. */
export function forgettingOfCalls({ db, clock, callRecordSeconds }: ForgettingDeps): Job {
  return {
    name: 'forgetting of calls',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      const before = new Date(clock().getTime() - callRecordSeconds * 1000);
      while (!signal.aborted && (await deleteOldCallsAcrossTenants(db, before, AT_ONCE)) === AT_ONCE);
    },
  };
}

const tables: TableUse = {
  owns: { enforced_calls: { rate: 'plan', kept: '`CAPS_CALL_RECORD_SECONDS`' } },
  reads: ['agents', 'developers', 'manifests'], // one function reads the facts of a call
  writes: [],
};

export const enforcement = defineFeature({
  name: 'enforcement',
  tags: { enforcement: 'Calls of tools: whether they may happen now.' },
  tables,
  acts,
  settings,
  metrics: {
    caps_data_loss_total: {
      kind: 'counter',
      help: 'Calls that were denied because the store of caps had lost counters.',
    },
  },
  listens: [on(tenantErased, eraseCalls)],
  open(context, settings) {
    const { meter, ...life } = openMeter(context, settings);
    const callRecordSeconds = settings.CAPS_CALL_RECORD_SECONDS;
    const [openDecisions] = context.listenersOf(decisionsAsked);
    const deps = context.provide(enforcementParts, {
      ...context,
      meter,
      counts: storeOfMeter(settings),
      verifyOwn: context.take(grantTokenVerifier),
      findLoaded: manifestLibrary(),
      openDecisions,
    });
    return {
      routes: (app) => enforcementRoutes(app, { ...context, ...deps }),
      jobs: [forgettingOfCalls({ ...context, callRecordSeconds })],
      ...life,
    };
  },
});
