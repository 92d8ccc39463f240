import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { createFailureBuffer, type FailureBuffer } from './buffer.ts';
import { deleteOldFailures, type FailureDeps } from './read.ts';
import { eraseFailures } from './requests.repo.ts';
import { requestRoutes } from './requests.routes.ts';

const tables: TableUse = {
  owns: {
    failed_requests: { rate: 'plan', kept: '72 hours' },
    failed_request_counts: { rate: 'plan', kept: '72 hours' },
  },
  reads: [],
  writes: [],
};

/** The most that a crash loses: the refusals of this time and of one write. */
const FLUSH_SECONDS = 1;

const flushOfFailures = (buffer: FailureBuffer): Job => ({
  name: 'flush of failed requests',
  everySeconds: FLUSH_SECONDS,
  run: () => buffer.flush(),
});

const retentionOfFailures = (deps: Pick<FailureDeps, 'db' | 'clock'>): Job => ({
  name: 'retention of failed requests',
  everySeconds: 3600,
  run: (signal) => deleteOldFailures(deps, signal),
});

export const requests = defineFeature({
  name: 'requests',
  tags: { requests: 'The requests of the account that failed, for 72 hours.' },
  tables,
  listens: [on(tenantErased, eraseFailures)],
  open(context) {
    const buffer = createFailureBuffer(context);
    return {
      routes: (app) => requestRoutes(app, { ...context, buffer }),
      noteRefusal: buffer.note,
      jobs: [flushOfFailures(buffer), retentionOfFailures(context)],
      finish: () => buffer.flush(),
    };
  },
});
