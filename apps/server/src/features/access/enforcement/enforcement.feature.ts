import { integer, onlyYet } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { postgresCapsMeter } from '../caps/index.ts';
import { manifestLibrary } from '../manifests/index.ts';
import { ownVerifier } from '../tokens/index.ts';
import { acts } from './enforcement.acts.ts';
import { forgettingOfCalls } from './enforcement.jobs.ts';
import { eraseCalls } from './enforcement.repo.ts';
import { enforcementRoutes } from './enforcement.routes.ts';
import { tables } from './enforcement.tables.ts';

export const enforcement = defineFeature({
  name: 'enforcement',
  tags: { enforcement: 'Calls of tools: whether they may happen now.' },
  knows: ['audit', 'caps', 'manifests', 'tokens'],
  tables,
  acts,
  settings: {
    CAPS_METER: defaulted(
      onlyYet('postgres', 'the service counts in no other store yet'),
      'postgres',
      'The store that counts calls and cost units against caps, one for all processes.',
    ),
    CAPS_CALL_RECORD_SECONDS: defaulted(
      integer(60, 604_800),
      '3600',
      'How long a call can be repeated without a second charge, and refunded.',
    ),
  },
  listens: [on(tenantErased, eraseCalls)],
  open(house, { CAPS_CALL_RECORD_SECONDS: callRecordSeconds }) {
    const meter = postgresCapsMeter(house.aside, { callRecordSeconds });
    const verifyOwn = ownVerifier({ ...house, ...house.lifetimes });
    const findLoaded = manifestLibrary();
    return {
      routes: (app) => app.register(enforcementRoutes, { ...house, meter, verifyOwn, findLoaded }),
      jobs: [forgettingOfCalls({ ...house, callRecordSeconds })],
    };
  },
});
