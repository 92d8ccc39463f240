import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { eraseBlockedAttempts } from './audit.repo.ts';
import { auditRoutes, rates } from './audit.routes.ts';
import { eraseChecks } from './chain.repo.ts';
import { type CheckpointDeps, signDueCheckpoints } from './checkpoint.ts';
import { chainCompared } from './verify.ts';
import { type WatchDeps, watchChains } from './watch.ts';

const EVERY_SECONDS = 300;

/** Signs a checkpoint of each chain once in every hour in which the chain has grown. */
export function checkpointsOfChains(deps: CheckpointDeps): Job {
  return {
    name: 'audit checkpoints',
    everySeconds: EVERY_SECONDS,
    run: (signal) => signDueCheckpoints(deps, signal),
  };
}

/** Checks each chain as it grows, and each whole chain once a day. */
function checksOfChains(deps: WatchDeps): Job {
  return {
    name: 'checks of audit chains',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      await watchChains(deps, signal);
    },
  };
}

const tables: TableUse = {
  owns: {
    audit_heads: { most: 1 },
    audit_entries: { rate: 'plan', kib: 16 },
    audit_checkpoints: { of: 'audit_entries' },
    audit_erased: { of: 'audit_entries' },
    audit_checks: { most: 1 },
    blocked_attempts: { most: 100 },
  },
  reads: [
    'audit_erasures', // a check allows for one that still runs
    'developers', // the chain of an erased account is watched no more
    'members', // reads name who acted
    ...['grants', 'agents'], // an entry that a developer writes agrees with its grant
  ],
  writes: ['outbox_events'], // one lock covers an entry and its event
};

const quotas = {
  audit_appends: {
    free: 20_000,
    pro: 1_000_000,
    enterprise: 'unlimited',
    describes: 'entries written by `POST /v1/audit/log` in a calendar month (UTC)',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

export const audit = defineFeature({
  name: 'audit',
  tags: { audit: 'The acts of the service and of agents, as a chain that anybody can check.' },
  tables,
  quotas,
  metrics: {
    audit_chain_broken: {
      kind: 'gauge',
      help: 'Verifications, periodic checks and evidence packs, since the start of this process, that found an audit chain broken.',
    },
  },
  rates,
  listens: [on(tenantErased, eraseBlockedAttempts), on(tenantErased, eraseChecks)],
  open(context) {
    const broken = context.metrics.gauge('audit_chain_broken');
    const onBroken = () => broken.inc();
    const log = context.logger ?? { error() {} };
    const deps = { ...context, onBroken, comparisons: context.listenersOf(chainCompared) };
    return {
      routes: (app) => auditRoutes(app, deps),
      jobs: [checkpointsOfChains(context), checksOfChains({ ...deps, log })],
    };
  },
});
