import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, announcement, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { countPending, deleteOldDeliveries, type SenderDeps } from './deliver.ts';
import { createDispatcher, type Dispatcher } from './dispatch.ts';
import { leaveLastDelivery, messageUrlRules, privateHosts, setMade, streamGone } from './endpoints.ts';
import { SEAL_KEY_USE, sealedSecrets, webhookSeals } from './secrets.ts';
import { eraseWebhooks, setMaxAttemptsAcrossTenants } from './webhooks.repo.ts';
import { rates, webhookRoutes } from './webhooks.routes.ts';

const POLL_SECONDS = 30; // for deliveries that another process left
const CLEANING_SECONDS = 3600;

/**
 * Finds the deliveries that no commit of this process announces: retries, and those that another process
 * left.
 */
function webhookDelivery(dispatcher: Dispatcher): Job {
  return { name: 'webhook delivery', everySeconds: POLL_SECONDS, run: () => dispatcher.begin() };
}

export function webhookHistory(deps: Pick<SenderDeps, 'db' | 'clock'>): Job {
  return {
    name: 'webhook history',
    everySeconds: CLEANING_SECONDS,
    run: (signal) => deleteOldDeliveries(deps, signal),
  };
}

const tables: TableUse = {
  owns: {
    webhook_endpoints: { quota: 'webhooks', kib: 16 },
    webhook_deliveries: { rate: 'plan', kept: '30 days' },
  },
  reads: ['audit_heads'],
  writes: [],
};

const quotas = {
  webhooks: {
    free: 30,
    pro: 200,
    enterprise: 'unlimited',
    describes: 'registered webhooks',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

interface OfWebhook {
  readonly webhookId: string;
}

const acts = {
  'webhook.created': act<OfWebhook & { readonly events: readonly string[] }>(),
  'webhook.updated': act<OfWebhook & { readonly changed: readonly string[] }>(),
  'webhook.disabled': act<OfWebhook & { readonly reason: 'gone' }>(),
  'webhook.deleted': act<OfWebhook>(),
};

const announcements = {
  'webhook.test': announcement<OfWebhook>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Announcements extends DataOf<typeof announcements> {}
}

export const webhooks = defineFeature({
  name: 'webhooks',
  tags: { webhooks: 'Endpoints to which the service sends events, and their deliveries.' },
  tables,
  acts: { ...acts, ...announcements },
  quotas,
  rates,
  metrics: {
    webhook_deliveries_pending: {
      kind: 'asked',
      help: 'Deliveries to webhooks and streams of signals that are not final yet, up to 10000.',
    },
  },
  settings: {
    WEBHOOK_MAX_ATTEMPTS: defaulted(
      integer(1, 10),
      '5',
      'The most attempts for one delivery. The delivery fails after the last attempt.',
    ),
    ...privateHosts,
  },
  keyUses: [SEAL_KEY_USE],
  listens: [on(accountClosed, leaveLastDelivery), on(tenantErased, eraseWebhooks)],
  open(context, settings) {
    const { WEBHOOK_MAX_ATTEMPTS: maxAttempts, WEBHOOK_ALLOW_PRIVATE_HOSTS: allowsPrivateHosts } = settings;
    const { logger, tracer } = context;
    const urlRules = context.provide(messageUrlRules, {
      allowsHttp: !context.isProduction,
      allowsPrivateHosts,
    });
    const seals = webhookSeals(context.keyRing);
    const dispatcher = createDispatcher({
      ...context,
      seals,
      makeSet: onlyOne(context.listenersOf(setMade)),
      onStreamGone: onlyOne(context.listenersOf(streamGone)),
      egress: context.openEgress(urlRules),
      ...(tracer && { trace: tracer.root }),
      onFailure: (err) =>
        logger?.error({ err }, 'a delivery failed inside the service, and will be repeated'),
    });
    context.metrics.ask('webhook_deliveries_pending', () => countPending(context));
    let isStarted = false; // no delivery is sent before the start
    const wake = () => {
      if (isStarted) dispatcher.wake();
    };
    return {
      routes: (app) => webhookRoutes(app, { ...context, urlRules, maxAttempts, seals, wake }),
      sealed: [sealedSecrets(context.keyRing)],
      prepare: () => setMaxAttemptsAcrossTenants(context.db, maxAttempts),
      start() {
        isStarted = true;
        context.notices.listen(wake);
        wake();
      },
      jobs: [webhookDelivery(dispatcher), webhookHistory(context)],
      finish: dispatcher.stop,
    };
  },
});

/** The listener of a hook that streams of signals need. */
function onlyOne<Listener>([listener]: readonly Listener[]): Listener {
  if (!listener) throw new Error('No feature makes signals.');
  return listener;
}
