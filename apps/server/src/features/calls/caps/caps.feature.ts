import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { eraseCaps } from './caps.repo.ts';
import { postgresCapsMeter } from './meters.ts';

const tables: TableUse = {
  owns: {
    caps_epoch: { most: 1 },
    caps_counter: { rate: 'plan', kept: '1 day after their window' },
    caps_slot: { of: 'caps_counter' },
    caps_call: { rate: 'plan', kept: '`CAPS_CALL_RECORD_SECONDS`' },
  },
  reads: [],
  writes: [],
};

const EVERY_SECONDS = 3_600;

/** Deletes counters that are empty and calls that can no longer be repeated. */
function pruningOfCaps(meter: CapsMeter): Job {
  return {
    name: 'pruning of caps',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await meter.prune()) > 0);
    },
  };
}

export const caps = defineFeature({
  name: 'caps',
  tags: {},
  tables,
  listens: [on(tenantErased, eraseCaps)],
  open: ({ db }) => ({ jobs: [pruningOfCaps(postgresCapsMeter(db, {}))] }),
});
