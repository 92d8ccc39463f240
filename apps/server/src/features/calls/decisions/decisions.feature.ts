import { defineFeature } from '../../../feature.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { eventStreams } from '../../record/events/index.ts';
import { messageUrlRules } from '../../record/webhooks/index.ts';
import { approverParts } from '../approvers/index.ts';
import { callJudge, decisionsAsked } from '../enforcement/index.ts';
import { BATCH, type CareDeps, careForDue } from './care.ts';
import { channelSeals, SEAL_KEY_USE } from './channels.ts';
import { acts, announcements, entries } from './decisions.acts.ts';
import { eraseDecisions, tellDecisions } from './decisions.repo.ts';
import { channelRoutes, decisionRoutes } from './decisions.routes.ts';
import { countWaitingAcrossTenants } from './lists.repo.ts';
import { rates, type SendDeps, sendNotices } from './notices.ts';
import { decisionPageRoutes } from './page.routes.ts';
import { openDecisions } from './use.ts';

const tables: TableUse = {
  owns: {
    decisions: { rate: 'plan', kib: 128 },
    decision_approvals: { of: 'decisions' },
    decision_cases: { rate: 'plan' },
    decision_channels: { most: 10 },
    decision_notices: { rate: 'plan', kept: 'until they are sent', kib: 16 },
  },
  reads: [],
  writes: [],
};

const EVERY_SECONDS = 30;

/** Records requests as expired, and reminds people of those that wait. No decision depends on it. */
function careOfDecisions(deps: CareDeps): Job {
  return {
    name: 'care of decisions',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      const failed = new Set<string>();
      while (!signal.aborted && (await careForDue(deps, failed)) === BATCH);
    },
  };
}

function noticesOfDecisions(deps: SendDeps): Job {
  return {
    name: 'notices of decisions',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await sendNotices(deps)) > 0);
    },
  };
}

const MAX_COUNTED = 1000;

export const decisions = defineFeature({
  name: 'decisions',
  tags: { decisions: 'Requests that people decide about one exact call of an agent.' },
  tables,
  acts: { ...acts, ...announcements, ...entries },
  attempts: ['decision.approval_refused'],
  rates,
  metrics: {
    decisions_waiting: {
      kind: 'asked',
      help: 'Requests for decisions that wait for people, up to 1000.',
    },
  },
  keyUses: [SEAL_KEY_USE],
  listens: [
    on(decisionsAsked, openDecisions),
    on(tenantErased, eraseDecisions),
    on(personExported, tellDecisions),
  ],
  open(context) {
    const { logger, db, clock } = context;
    context.metrics.ask('decisions_waiting', () => countWaitingAcrossTenants(db, clock(), MAX_COUNTED));
    const urlRules = context.take(messageUrlRules);
    const onFailure = (err: unknown) =>
      logger?.warn({ err }, 'a notice about a decision could not be sent yet');
    const onCareFailure = (err: unknown) =>
      logger?.warn({ err }, 'a request for a decision was not cared for');
    const seals = channelSeals(context.keyRing);
    const deps = {
      ...context,
      ...context.take(approverParts),
      ...callJudge(context),
      seals,
      urlRules,
      onFailure,
    };
    return {
      async routes(app) {
        await decisionRoutes(app, deps);
        await channelRoutes(app, deps);
        await decisionPageRoutes(app, { ...deps, streams: context.take(eventStreams) });
      },
      sealed: [seals.rows],
      jobs: [
        careOfDecisions({ ...deps, onFailure: onCareFailure }),
        noticesOfDecisions({ ...deps, egress: context.openEgress(urlRules) }),
      ],
    };
  },
});
