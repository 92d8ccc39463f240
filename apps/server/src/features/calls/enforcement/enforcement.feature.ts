import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { manifestLibrary } from '../../grants/manifests/index.ts';
import { grantTokenVerifier } from '../../grants/tokens/index.ts';
import { acts } from './enforcement.acts.ts';
import { decisionsAsked } from './enforcement.hooks.ts';
import { forgettingOfCalls } from './enforcement.jobs.ts';
import { eraseCalls } from './enforcement.repo.ts';
import { enforcementRoutes } from './enforcement.routes.ts';
import { settings } from './enforcement.settings.ts';
import { enforcementParts } from './enforcement.ts';
import { openMeter, storeOfMeter } from './meters.ts';

const tables: TableUse = {
  owns: { enforced_calls: { rate: 'plan', kept: '`CAPS_CALL_RECORD_SECONDS`' } },
  reads: ['developers', 'manifests'], // one function reads the facts of a call
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
  open(house, settings) {
    const { meter, ...life } = openMeter(house, settings);
    const callRecordSeconds = settings.CAPS_CALL_RECORD_SECONDS;
    const [openDecisions] = house.listenersOf(decisionsAsked);
    const deps = house.provide(enforcementParts, {
      ...house,
      meter,
      counts: storeOfMeter(settings),
      verifyOwn: house.take(grantTokenVerifier),
      findLoaded: manifestLibrary(),
      openDecisions,
    });
    return {
      routes: (app) => app.register(enforcementRoutes, { ...house, ...deps }),
      jobs: [forgettingOfCalls({ ...house, callRecordSeconds })],
      ...life,
    };
  },
});
