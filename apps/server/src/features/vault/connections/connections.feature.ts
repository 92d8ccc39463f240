import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { agentRevoked } from '../../accounts/agents/index.ts';
import { webauthnRelyingParty } from '../../people/passkeys/index.ts';
import { principalRights } from '../../people/scim/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { credentialDisconnected, type Unrevoked } from '../credentials/index.ts';
import { connectUpstreams, providerDeleted } from '../providers/index.ts';
import { askRoutes } from './ask.routes.ts';
import { authenticateConnect, CSRF_KEY_USE } from './browser.ts';
import { rates } from './connections.rates.ts';
import { eraseConnectSessions, listDueSessionsAcrossTenants } from './connections.repo.ts';
import { connectRoutes } from './connections.routes.ts';
import type { ConnectDeps } from './deps.ts';
import {
  cancelSessionsOfAgent,
  cancelSessionsOfProvider,
  endSession,
  openSessionsOfPrincipals,
  revokeReturned,
} from './end.ts';
import { proofRoutes } from './proof.routes.ts';
import { STATE_KEY_USE } from './start.ts';

const tables: TableUse = {
  owns: { connect_sessions: { rate: 'connectCreate', kib: 64 } },
  reads: [],
  writes: [],
};

const BATCH = 100;

/**
 * Records open sessions as expired, and erases the tokens that nobody confirmed. No decision depends on it, because
 * expiry follows from the clock.
 */
async function expireSessions(deps: ConnectDeps, signal: AbortSignal): Promise<void> {
  const at = deps.clock();
  for (const row of await listDueSessionsAcrossTenants(deps.db, at, BATCH)) {
    if (signal.aborted) return;
    const caller = systemCaller(
      { developerId: row.developerId },
      { mode: 'live', plan: 'free' },
      'expiry of connect sessions',
    );
    const ended = await inTransaction(deps.db, async (tx) => {
      const acts = await endSession(tx, caller, row.id, { to: 'expired', reason: 'expired', at });
      if (acts.length > 0) await recordActs(tx, caller, acts, at);
      return acts.length > 0;
    });
    if (ended) await revokeReturned(deps, row);
  }
}

const EVERY_SECONDS = 30;

function expiryOfConnectSessions(deps: ConnectDeps): Job {
  return {
    name: 'expiry of connect sessions',
    everySeconds: EVERY_SECONDS,
    run: (signal) => expireSessions(deps, signal),
  };
}

interface OfSession {
  readonly connectSessionId: string;
  readonly service: string;
}

const acts = {
  'vault.connection.requested': act<
    OfSession & { readonly providerId: string; readonly scopes: readonly string[] }
  >(),
  'vault.connection.connected': act<
    OfSession & {
      readonly credentialId: string;
      readonly providerId: string;
      readonly scopesAsked: readonly string[];
      readonly scopesGranted: readonly string[];
      readonly method: string;
      readonly replaced: boolean;
    }
  >(),
  'vault.connection.failed': act<OfSession & { readonly reason: string }>(),
};

const entries = { 'vault.connection.blocked': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'vault.connection.blocked': true;
  }
}

export const connections = defineFeature({
  name: 'connections',
  tags: { connections: 'Links and the page by which people connect their accounts.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['vault.connection.blocked'],
  rates,
  keyUses: [CSRF_KEY_USE, STATE_KEY_USE],
  listens: [
    on(providerDeleted, cancelSessionsOfProvider),
    on(agentRevoked, cancelSessionsOfAgent),
    on(principalRights, openSessionsOfPrincipals),
    on(tenantErased, eraseConnectSessions),
  ],
  open(context) {
    const egress = context.take(connectUpstreams);
    const deps = {
      ...context,
      relyingParty: context.take(webauthnRelyingParty),
      vault: context.keyRing.vault,
      upstream: egress,
      connected: egress,
      onMailFailed: () => context.metrics.counter('mail_failed').inc(),
      onDisconnected: context.listenersOf(credentialDisconnected),
      onUnrevoked: ({ credentialId, failure }: Unrevoked) =>
        context.logger?.warn(
          { credentialId, failure },
          'an upstream did not revoke the tokens of a connected account',
        ),
    };
    return {
      async routes(app) {
        await askRoutes(app, deps);
        await connectRoutes(app, deps);
        await proofRoutes(app, deps);
      },
      credentials: { connect: authenticateConnect(deps) },
      jobs: [expiryOfConnectSessions(deps)],
    };
  },
});
