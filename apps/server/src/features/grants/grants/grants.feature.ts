import { defineFeature } from '../../../feature.ts';
import { act, announcement, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import type { RenewalCause } from '../../../platform/db/types.gen.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { agentRevoked } from '../../accounts/agents/index.ts';
import { accountClosed, deploymentCounts } from '../../accounts/developers/index.ts';
import { confirmations } from '../verifiers/index.ts';
import { announceExpiredGrants, type GrantExpiryDeps } from './expire.ts';
import { countGrantsAcrossTenants } from './grants.queries.ts';
import { eraseGrants, eraseRenewals } from './grants.repo.ts';
import { grantRoutes } from './grants.routes.ts';
import { grantsRead } from './list.ts';
import { callsCounted } from './preview.ts';
import { revokeGrantsOfAccount, revokeGrantsOfAgent } from './revoke.ts';

const tables: TableUse = {
  owns: {
    grants: { quota: 'authorizations', every: 'month', kib: 16 },
    grant_renewals: { of: 'grants', each: 2 },
  },
  // The acts of a revocation name each grant's agent, and passports that fall with it; a consent is compared with its
  // agent and the settings.
  reads: ['agents', 'auth_requests', 'developers', 'verifiable_credentials'],
  writes: [],
};

const quotas = {
  active_grants: {
    free: 1000,
    pro: 50_000,
    enterprise: 'unlimited',
    describes: 'active grants, including delegated grants',
  },
  token_exchanges: {
    free: 50_000,
    pro: 5_000_000,
    enterprise: 'unlimited',
    describes: 'codes that are exchanged for tokens in a calendar month (UTC)',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

const acts = {
  'grant.created': act<{
    readonly scopes: readonly string[];
    readonly expiresAt: string;
    readonly audience?: string;
    readonly consentMethod: string;
    readonly unverified?: true;
    readonly parentGrantId?: string;
    readonly delegationDepth: number;
    /** The tools, purposes and caps of the grant; the rules of arguments as canonical JSON (RFC 8785). */
    readonly authorizationDetails?: readonly object[];
  }>(),
  'grant.revoked': act<{
    readonly rootGrantId: string;
    readonly reason: string;
    readonly cascade: boolean;
    readonly revokedBy: string;
    readonly causedBy?: string;
  }>(),
  'grant.reconsent_required': act<{
    readonly cause: RenewalCause;
    /** The tools that are wider than the person agreed to, where a manifest is the cause. */
    readonly tools?: readonly string[];
  }>(),
};

const announcements = {
  'grant.expired': announcement<{ readonly expiresAt: string }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Announcements extends DataOf<typeof announcements> {}
}

export const grants = defineFeature({
  name: 'grants',
  tags: { grants: 'The permissions that principals gave to agents.' },
  tables,
  acts: { ...acts, ...announcements },
  quotas,
  listens: [
    on(agentRevoked, revokeGrantsOfAgent),
    on(accountClosed, revokeGrantsOfAccount),
    on(deploymentCounts, async (db) => ({ totalGrants: await countGrantsAcrossTenants(db) })),
    on(tenantErased, eraseRenewals),
    on(tenantErased, eraseGrants),
  ],
  open: (context) => ({
    routes: (app) =>
      grantRoutes(app, {
        ...context,
        onGrantsRead: context.listenersOf(grantsRead),
        callCounters: context.listenersOf(callsCounted),
        waits: context.take(confirmations),
      }),
    jobs: [expiryOfGrants(context)],
  }),
});

const EVERY_SECONDS = 30;

/** Announces expired grants. */
export function expiryOfGrants(deps: GrantExpiryDeps): Job {
  return {
    name: 'expiry of grants',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await announceExpiredGrants(deps)) > 0);
    },
  };
}
