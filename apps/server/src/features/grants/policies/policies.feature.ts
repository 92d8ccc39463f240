import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { personErased, personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { cedarInService, decisionPoint, outsidePoint, policySettings } from './outside.ts';
import { erasePolicies, tellPolicies } from './policies.repo.ts';
import { policyRoutes, rates } from './policies.routes.ts';
import { eraseRevisionsOf, tellRevisions } from './versions.repo.ts';

const tables: TableUse = {
  owns: {
    policies: { quota: 'policies', kib: 256 },
    // 50 versions of a policy, which have 512 KiB together
    policy_revisions: { of: 'policies', each: 50, kib: 11 },
    policy_versions: { most: 1 },
  },
  reads: ['policy_bundles'], // Cedar decides by the active one
  writes: [],
};

const quotas = {
  policies: { free: 50, pro: 500, enterprise: 'unlimited', describes: 'policies' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

interface Change {
  readonly from: unknown;
  readonly to: unknown;
}

const acts = {
  'policy.created': act<{ readonly policyId: string; readonly policy: Readonly<Record<string, unknown>> }>(),
  'policy.updated': act<{
    readonly policyId: string;
    readonly version: number;
    readonly changes: Readonly<Record<string, Change>>;
  }>(),
  'policy.deleted': act<{ readonly policyId: string; readonly policy: Readonly<Record<string, unknown>> }>(),
};

/** Refused attempts. A request that a policy stops before there is a grant is `authorization.blocked`. */
const entries = {
  'authorization.blocked': entryOnly(),
  'policy.denied': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'authorization.blocked': true;
    'policy.denied': true;
  }
}

export const policies = defineFeature({
  name: 'policies',
  tags: { policies: 'Standing rules that deny or allow grants before a person is asked.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['authorization.blocked', 'policy.denied'],
  rates,
  quotas,
  metrics: {
    policy_decisions_total: {
      kind: 'counter',
      labels: ['operation', 'effect', 'backend'],
      help: 'Decisions of policies, for developers who have any.',
    },
  },
  listens: [
    on(tenantErased, erasePolicies),
    on(personExported, tellPolicies),
    on(personExported, tellRevisions),
    on(personErased, eraseRevisionsOf),
  ],
  settings: policySettings,
  checkSettings({ POLICY_BACKEND: backend, OPA_URL, CEDAR_URL }, refuse) {
    if (backend === 'opa' && !OPA_URL) refuse('OPA_URL', 'POLICY_BACKEND=opa requires OPA_URL');
    if (backend === 'cedar' && !CEDAR_URL) refuse('CEDAR_URL', 'POLICY_BACKEND=cedar requires CEDAR_URL');
  },
  open(context, settings) {
    context.provide(cedarInService, settings.POLICY_BACKEND === 'cedar_bundles');
    const outside = context.provide(decisionPoint, outsidePoint(context, settings));
    return { routes: (app) => policyRoutes(app, { ...context, outside }) };
  },
});
