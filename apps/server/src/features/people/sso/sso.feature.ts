import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { QuotaDeclarations } from '../../../platform/quotas.ts';
import { consentModeChosen } from '../../accounts/developers/index.ts';
import { principalClosed, userLeft } from '../scim/index.ts';
import { ssoConnectionRoutes } from './connections.routes.ts';
import { ssoDepsOf, ssoParts } from './deps.ts';
import { ssoDirectoryRoutes } from './directory.routes.ts';
import { mustHaveConnectionForMode } from './enforce.ts';
import { STATE_KEY_USE } from './flight.ts';
import { ssoLoginRoutes } from './login.routes.ts';
import { connectionRotation, sealedConnections } from './secrets.ts';
import { endSessionsOfPrincipals, endSessionsOfUser } from './sessions.ts';
import { rates } from './sso.rates.ts';
import { eraseSso, tellSignOns } from './sso.repo.ts';
import { identityProviders, ssoEgress, ssoSettings } from './sso.settings.ts';

const tables: TableUse = {
  owns: {
    sso_connections: { quota: 'sso_connections', kib: 400 },
    sso_connection_domains: { of: 'sso_connections', each: 50 },
    sso_identities: { rate: 'ssoCallback' },
    sso_sessions: { rate: 'ssoCallback', kept: 'until they expire' },
    sso_assertions: { rate: 'ssoCallback', kept: 'until they expire' },
  },
  reads: [],
  writes: [],
};

const quotas = {
  sso_connections: {
    free: 50,
    pro: 1000,
    enterprise: 'unlimited',
    describes: 'connections of single sign-on',
  },
} as const satisfies QuotaDeclarations;

type Declared = typeof quotas;
declare module '../../../platform/quotas.ts' {
  interface QuotaResources extends Declared {}
}

interface OfConnection {
  readonly connectionId: string;
}

const acts = {
  'sso.connection.created': act<OfConnection & { readonly protocol: string; readonly name: string }>(),
  'sso.connection.updated': act<OfConnection & { readonly changed: readonly string[] }>(),
  'sso.connection.deleted': act<OfConnection>(),
  'sso.enforcement_changed': act<{ readonly enforce: boolean }>(),
  'sso.login': act<
    OfConnection & {
      readonly protocol: string;
      readonly sessionId: string;
      readonly principalId: string | null;
      readonly email: string | null;
    }
  >(),
  'sso.user_linked': act<OfConnection & { readonly userId: string }>(),
  'sso.identity.moved': act<OfConnection & { readonly userId: string; readonly fromUserId?: string }>(),
  'sso.session.revoked': act<OfConnection & { readonly sessionId: string; readonly reason: string }>(),
};

const entries = { 'sso.login_failed': entryOnly(), 'sso.connection_key.rotated': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'sso.connection_key.rotated': OfConnection & { readonly fromKeyId: string; readonly toKeyId: string };
  }
  interface Attempts {
    'sso.login_failed': true;
  }
}

export const sso = defineFeature({
  name: 'sso',
  tags: { sso: 'Identity providers of customers, and the logins of people there.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['sso.login_failed'],
  rates,
  quotas,
  settings: ssoSettings,
  keyUses: [STATE_KEY_USE],
  listens: [
    on(consentModeChosen, mustHaveConnectionForMode),
    on(userLeft, endSessionsOfUser),
    on(principalClosed, endSessionsOfPrincipals),
    on(tenantErased, eraseSso),
    on(personExported, tellSignOns),
  ],
  open(context, settings) {
    context.provide(identityProviders, ssoEgress(context, settings));
    const deps = context.provide(ssoParts, ssoDepsOf(context, settings));
    const rotation = { ...deps, warn: (message: string) => context.logger?.warn(message) };
    return {
      sealed: [sealedConnections(rotation.vault)],
      jobs: [connectionRotation(rotation)],
      async routes(app) {
        await ssoConnectionRoutes(app, deps);
        await ssoLoginRoutes(app, deps);
        await ssoDirectoryRoutes(app, deps);
      },
    };
  },
});
