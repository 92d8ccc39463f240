import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { principalClosed, userLeft } from '../../people/scim/index.ts';
import { eraseApprovers, tellApprovers, tellSubscriptions } from './approvers.repo.ts';
import { approverRecoveryRoutes, approverRoutes, rates } from './approvers.routes.ts';
import { approverDeps, approverParts, settings } from './deps.ts';
import { removeApproversOfPrincipals, removeApproversOfUser } from './manage.ts';
import { approverNotificationRoutes, approverPageRoutes, approverPasskeyRoutes } from './page.routes.ts';
import { authenticateApprover, CSRF_KEY_USE } from './session.ts';
import { SEAL_KEY_USE, VAPID_KEY_USE } from './web-push.ts';

const tables: TableUse = {
  owns: {
    approvers: { quota: 'approvers', kib: 16 },
    approver_subscriptions: { of: 'approvers' },
    approver_sessions: { rate: 'consoleSignIn', kept: 'until they expire' },
  },
  reads: [],
  writes: [],
};

const quotas = {
  approvers: { free: 100, pro: 1000, enterprise: 1000, describes: 'approvers who are not removed' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

interface OfApprover {
  readonly approverId: string;
}

interface OfPasskey extends OfApprover {
  readonly credentialId: string;
}

const acts = {
  'approver.enrolled': act<OfApprover & { readonly kind: string; readonly status: string }>(),
  'approver.confirmed': act<OfApprover & { readonly confirmedBy: string }>(),
  'approver.updated': act<OfApprover & { readonly changed: readonly string[] }>(),
  'approver.recovery_requested': act<OfApprover & { readonly recoveryFrom: string }>(),
  'approver.recovery_cancelled': act<OfApprover & { readonly cancelledBy: string }>(),
  'approver.removed': act<OfApprover & { readonly reason: 'api' | 'principal_offboarded' }>(),
};

const entries = {
  'approver.invited': entryOnly(),
  'approver.clone_suspected': entryOnly(),
  'approver.passkey_added': entryOnly(),
  'approver.passkey_removed': entryOnly(),
  'approver.sign_in_failed': entryOnly(),
  'approver.notifications_changed': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'approver.invited': OfApprover & { readonly mailed: boolean };
    'approver.clone_suspected': OfPasskey;
    'approver.passkey_added': OfPasskey;
    'approver.passkey_removed': OfPasskey;
    'approver.notifications_changed': OfApprover & {
      readonly subscriptionId: string;
      readonly changed: 'created' | 'deleted' | 'gone';
    };
  }
  interface Attempts {
    'approver.sign_in_failed': true;
  }
}

export const approvers = defineFeature({
  name: 'approvers',
  tags: {
    approvers: 'The people who decide about exact calls of agents.',
    approver: 'Calls of the page on which approvers decide.',
  },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['approver.sign_in_failed'],
  rates,
  quotas,
  settings,
  keyUses: [CSRF_KEY_USE, SEAL_KEY_USE, VAPID_KEY_USE],
  listens: [
    on(userLeft, removeApproversOfUser),
    on(principalClosed, removeApproversOfPrincipals),
    on(tenantErased, eraseApprovers),
    on(personExported, tellApprovers),
    on(personExported, tellSubscriptions),
  ],
  open(context, chosen) {
    const deps = context.provide(approverParts, approverDeps(context, chosen));
    return {
      async routes(app) {
        await approverRoutes(app, deps);
        await approverPageRoutes(app, deps);
        await approverPasskeyRoutes(app, deps);
        await approverNotificationRoutes(app, deps);
        await approverRecoveryRoutes(app, deps);
      },
      sealed: [deps.push.seals.rows],
      credentials: { approver: authenticateApprover(deps) },
    };
  },
});
