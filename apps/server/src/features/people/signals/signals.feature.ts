import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { offboardDeps } from '../scim/index.ts';
import { identityProviders } from '../sso/index.ts';
import { checkStreams } from './check.ts';
import { type PollDeps, pollStreams } from './poll.ts';
import { SEAL_KEY_USE, sealedStreams } from './seals.ts';
import { eraseSignals } from './signals.repo.ts';
import { rates, signalRoutes } from './signals.routes.ts';
import type { SignalEffect } from './signals.rules.ts';

const tables: TableUse = {
  owns: {
    signal_sources: { of: 'sso_connections' },
    signal_receipts: { rate: 'ssfReceive', kept: '8 days' },
  },
  reads: [],
  writes: [],
};

const POLL_SECONDS = 10; // so that a stream which is due every 30 s waits for no second round

function signalPolling(deps: PollDeps): Job {
  return {
    name: 'polling of signals',
    everySeconds: POLL_SECONDS,
    run: (signal) => pollStreams(deps, signal),
  };
}

const CHECK_SECONDS = 60;

function streamVerification(deps: PollDeps): Job {
  return {
    name: 'verification of streams',
    everySeconds: CHECK_SECONDS,
    run: (signal) => checkStreams(deps, signal),
  };
}

const acts = {
  'signal.received': act<{
    readonly connectionId: string;
    readonly event: string;
    readonly jti: string;
    readonly userId?: string;
    readonly principalIds?: readonly string[];
    readonly sessionsEnded: number;
    readonly grantsRevoked: number;
    readonly effect: SignalEffect;
  }>(),
  'signal.stream_silent': act<{ readonly connectionId: string; readonly lastHeardAt: string | null }>(),
};

const entries = { 'signal.ignored': entryOnly(), 'signal.refused': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'signal.refused': true;
  }
  interface Entries {
    'signal.ignored': { readonly connectionId: string; readonly event: string; readonly jti: string };
  }
}

export const signals = defineFeature({
  name: 'signals',
  tags: { signals: 'Identity providers that tell of ended sessions and disabled accounts.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['signal.refused'],
  rates,
  listens: [on(tenantErased, eraseSignals)],
  keyUses: [SEAL_KEY_USE],
  open(context) {
    const { logger } = context;
    const deps = {
      ...context,
      upstream: context.take(identityProviders),
      ...offboardDeps(context),
      onFailure: (err: unknown) =>
        logger?.warn({ err }, 'a stream of signals could not be polled or verified'),
    };
    return {
      sealed: [sealedStreams(context.keyRing)],
      jobs: [signalPolling(deps), streamVerification(deps)],
      routes: (app) => signalRoutes(app, deps),
    };
  },
});
