import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { agentRevoked } from '../../accounts/agents/index.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { eraseRequests, tellRequests } from './authorization.repo.ts';
import { authorizationRoutes, rates } from './authorization.routes.ts';
import { authorizationDeps, authorizationParts, authorizationSettings } from './deps.ts';
import { countOverdue, expireDueRequests, type RequestExpiryDeps } from './expire.ts';
import { cancelRequestsOfAccount, cancelRequestsOfAgent } from './manage.ts';

const tables: TableUse = {
  owns: { auth_requests: { quota: 'authorizations', every: 'month', kib: 24 } },
  reads: ['agents', 'developers', 'quota_counters'], // the facts that decide a request, in one function
  writes: [],
};

const quotas = {
  open_requests: {
    free: 100,
    pro: 1000,
    enterprise: 10_000,
    describes: 'authorization requests that are undecided, or approved and not exchanged',
  },
  authorizations: {
    free: 50_000,
    pro: 5_000_000,
    enterprise: 'unlimited',
    describes: 'authorization requests in a calendar month (UTC)',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

interface OfRequest {
  readonly authRequestId: string;
}

const acts = {
  'authorization.requested': act<
    OfRequest & {
      readonly scopes: readonly string[];
      /** The client polls for the decision, and the developer informs the person of a `ciba` request. */
      readonly channel?: 'device' | 'ciba';
      /** The grant that ends when the new one begins. */
      readonly replacesGrantId?: string;
    }
  >(),
  'authorization.approved': act<
    OfRequest & {
      readonly scopes: readonly string[];
      readonly method: string;
      readonly narrowed: boolean;
      readonly unverified?: true;
      /** The policy that approved in the person's place. */
      readonly policyId?: string;
      /** The hash of the record of what the person was shown and decided. Absent where nobody was asked. */
      readonly consentHash?: string;
    }
  >(),
  'authorization.denied': act<OfRequest & { readonly reason?: string }>(),
  'authorization.cancelled': act<OfRequest>(),
  'authorization.expired': act<OfRequest>(),
};

/** A request or a delegation for scopes beyond those of the agent or of the parent grant. */
const entries = { 'authorization.scope_refused': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'authorization.scope_refused': true;
  }
}

export const authorization = defineFeature({
  name: 'authorization',
  tags: { authorization: 'Asking a principal for consent.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['authorization.scope_refused'],
  rates,
  quotas,
  metrics: {
    authorization_requests_overdue: {
      kind: 'asked',
      help: 'Authorization requests that have expired and are not recorded as expired yet, up to 1000.',
    },
  },
  settings: authorizationSettings,
  listens: [
    on(agentRevoked, cancelRequestsOfAgent),
    on(accountClosed, cancelRequestsOfAccount),
    on(tenantErased, eraseRequests),
    on(personExported, tellRequests),
  ],
  open(context, settings) {
    context.metrics.ask('authorization_requests_overdue', () => countOverdue(context));
    const deps = context.provide(authorizationParts, authorizationDeps(context, settings));
    return {
      routes: (app) => authorizationRoutes(app, deps),
      jobs: [expiryOfRequests(context)],
    };
  },
});

const EVERY_SECONDS = 30;

/** Records requests as expired when no decision, or no exchange of their code, came in time. */
export function expiryOfRequests(deps: RequestExpiryDeps): Job {
  return {
    name: 'expiry of requests',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await expireDueRequests(deps)) > 0);
    },
  };
}
