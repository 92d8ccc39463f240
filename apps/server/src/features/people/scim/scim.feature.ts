import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { scimDiscoveryRoutes } from './discovery.routes.ts';
import { offboardDeps } from './offboard.ts';
import { tellClosings } from './principals.repo.ts';
import { scimBulkRoutes, scimGroupRoutes, scimUserRoutes } from './resources.routes.ts';
import { eraseDirectory } from './scim.repo.ts';
import { rates, scimTokenRoutes } from './tokens.routes.ts';
import { findProvisioner, removeTokens } from './tokens.ts';
import { tellUser } from './users.repo.ts';

const tables: TableUse = {
  owns: {
    scim_tokens: { most: 10 },
    scim_token_index: { of: 'scim_tokens' },
    scim_users: { quota: 'scim_people', kib: 64 },
    scim_user_emails: { of: 'scim_users', each: 20, kib: 0.5 },
    scim_principals: { of: 'scim_users', each: 4, kib: 0.5 },
    scim_groups: { quota: 'scim_groups', kib: 2 },
    scim_members: { of: 'scim_groups', each: 'scim_people', kib: 0.25 },
    closed_principals: { rate: 'plan', kib: 2 },
  },
  reads: [],
  writes: [],
};

const quotas = {
  scim_people: { free: 2000, pro: 100_000, enterprise: 'unlimited', describes: 'people of a SCIM directory' },
  scim_groups: { free: 200, pro: 10_000, enterprise: 'unlimited', describes: 'groups of a SCIM directory' },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

interface TokenAct {
  readonly tokenId: string;
  readonly label: string;
}

interface UserAct {
  readonly userId: string;
  readonly userName: string;
  readonly externalId?: string;
  readonly grantsRevoked?: number;
}

interface GroupAct {
  readonly groupId: string;
  readonly displayName: string;
  readonly externalId?: string;
}

interface Offboarded {
  /** Absent when the developer ended it for one principal id, and no directory for a user. */
  readonly userId?: string;
  readonly principalIds: readonly string[];
  readonly grantsRevoked: number;
}

const acts = {
  'scim.token.created': act<TokenAct>(),
  'scim.token.deleted': act<TokenAct>(),
  'scim.user.created': act<UserAct>(),
  'scim.user.updated': act<UserAct>(),
  'scim.user.deactivated': act<UserAct>(),
  'scim.user.reactivated': act<UserAct>(),
  'scim.user.deleted': act<UserAct>(),
  'scim.group.created': act<GroupAct>(),
  'scim.group.updated': act<GroupAct>(),
  'scim.group.deleted': act<GroupAct>(),
  'principal.offboarded': act<Offboarded>(),
  'principal.admitted': act<{ readonly principalIds: readonly string[] }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const scim = defineFeature({
  name: 'scim',
  tags: {
    scimTokens: 'Credentials with which identity providers provision people.',
    scim: 'People and groups as an identity provider tells of them: SCIM 2.0.',
  },
  tables,
  acts,
  rates,
  quotas,
  listens: [
    on(accountClosed, removeTokens),
    on(tenantErased, eraseDirectory),
    on(personExported, tellUser),
    on(personExported, tellClosings),
  ],
  open: (context) => ({
    credentials: { scim: (hash) => findProvisioner(context, hash) },
    async routes(app) {
      const deps = { ...context, ...offboardDeps(context) };
      await scimTokenRoutes(app, context);
      await scimUserRoutes(app, deps);
      await scimGroupRoutes(app, deps);
      await scimBulkRoutes(app, deps);
      await scimDiscoveryRoutes(app, context);
    },
  }),
});
