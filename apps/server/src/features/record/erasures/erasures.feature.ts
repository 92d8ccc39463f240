import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { personErased, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { type RunDeps, runErasures } from './erase.ts';
import { eraseErasures } from './erasures.repo.ts';
import { erasureRoutes, rates } from './erasures.routes.ts';

const tables: TableUse = {
  owns: { audit_erasures: { rate: 'auditErasure' } },
  reads: [],
  writes: [],
};

const EVERY_SECONDS = 60;

/** Erases personal content from audit entries: that of people when developers ask, and all content that is too old. */
function erasuresOfEntries(deps: RunDeps): Job {
  return {
    name: 'erasure of audit entries',
    everySeconds: EVERY_SECONDS,
    run: (signal) => runErasures(deps, signal),
  };
}

interface OfErasure {
  readonly erasureId: string;
  /** The entries that it erased. */
  readonly count: number;
  /** SHA-256 of the JSON array of their numbers. */
  readonly digest: string;
  /** SHA-256 of the leaves that their parts make. */
  readonly leaves: string;
}

const acts = { 'audit.erased': act<OfErasure>() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const erasures = defineFeature({
  name: 'erasures',
  tags: {},
  tables,
  acts,
  rates,
  listens: [on(tenantErased, eraseErasures)],
  open(context) {
    const broken = context.metrics.gauge('audit_chain_broken');
    const { logger } = context;
    const onBroken = (developerId: string, firstBrokenAt: string) => {
      logger?.error({ developerId, firstBrokenAt, problem: 'hash_mismatch' }, 'an audit chain is broken');
      broken.inc();
    };
    const onFailure = (error: unknown) => logger?.error({ err: error }, 'an erasure failed');
    return {
      routes: (app) => erasureRoutes(app, context),
      jobs: [
        erasuresOfEntries({ ...context, erasers: context.listenersOf(personErased), onBroken, onFailure }),
      ],
    };
  },
});
