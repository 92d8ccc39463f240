import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { createWaits } from '../../record/events/index.ts';
import {
  countSets,
  messageUrlRules,
  prepareQueues,
  setMade,
  streamGone,
  webhookSeals,
} from '../../record/webhooks/index.ts';
import { type CareDeps, careForStreams, pauseGone } from './care.ts';
import { eraseTransmitter } from './receivers.repo.ts';
import { receiverRoutes } from './receivers.routes.ts';
import { makeSet } from './set.ts';
import { metadataRoutes, rates, streamRoutes } from './streams.routes.ts';
import { findSsfCaller } from './tokens.ts';

const settings = {
  SSF_MAX_ATTEMPTS: defaulted(
    integer(1, 20),
    '10',
    'The most attempts to push one signal to a receiver. The signal fails after the last attempt.',
  ),
};

const tables: TableUse = {
  owns: {
    ssf_receivers: { most: 20 },
    ssf_tokens: { rate: 'ssf', kept: 'until they expire' },
    ssf_streams: { of: 'ssf_receivers', each: 5, kib: 16 },
  },
  reads: ['developers'],
  writes: [],
};

const EVERY_SECONDS = 60;

function careOfStreams(deps: CareDeps): Job {
  return {
    name: 'care of signal streams',
    everySeconds: EVERY_SECONDS,
    run: (signal) => careForStreams(deps, signal),
  };
}

interface OfReceiver {
  readonly receiverId: string;
}

interface OfStream extends OfReceiver {
  readonly streamId: string;
}

const acts = {
  'ssf.receiver.created': act<OfReceiver & { readonly audience: string }>(),
  'ssf.receiver.updated': act<OfReceiver & { readonly changed: readonly string[] }>(),
  'ssf.receiver.deleted': act<OfReceiver>(),
  'ssf.stream.created': act<OfStream & { readonly method: string }>(),
  'ssf.stream.updated': act<OfStream & { readonly changed: readonly string[]; readonly status: string }>(),
  'ssf.stream.deleted': act<OfStream>(),
  'ssf.stream.paused': act<OfStream & { readonly reason: string }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const transmitter = defineFeature({
  name: 'transmitter',
  tags: {
    ssfReceivers: 'Systems that listen when agents and sessions end.',
    ssf: 'Streams of signals, as receivers make and read them: Shared Signals Framework 1.0.',
  },
  tables,
  acts,
  rates,
  metrics: {
    ssf_sets_pending: {
      kind: 'asked',
      help: 'Signals that wait for a receiver, up to 10000.',
    },
  },
  settings,
  listens: [on(setMade, makeSet), on(streamGone, pauseGone), on(tenantErased, eraseTransmitter)],
  open(context, { SSF_MAX_ATTEMPTS: maxAttempts }) {
    const { logger } = context;
    const deps = {
      ...context,
      maxAttempts,
      urlRules: context.take(messageUrlRules),
      seals: webhookSeals(context.keyRing),
      waits: createWaits(context),
      onFailure: (err: unknown) => logger?.warn({ err }, 'a stream of signals was not cared for'),
    };
    context.metrics.ask('ssf_sets_pending', () => countSets(context));
    return {
      credentials: { ssf: (hash) => findSsfCaller(context, hash) },
      prepare: () => prepareQueues(context.db, maxAttempts),
      jobs: [careOfStreams(deps)],
      async routes(app) {
        await metadataRoutes(app, context);
        await receiverRoutes(app, deps);
        await app.register(streamRoutes, deps);
      },
    };
  },
});
