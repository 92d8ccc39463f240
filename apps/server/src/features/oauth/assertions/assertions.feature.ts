import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { ownPageEntries } from '../../people/principals/index.ts';
import { issuerChanged } from '../../people/sso/index.ts';
import { hasStops } from './assertions.queries.ts';
import { eraseAssertions } from './assertions.repo.ts';
import { assertionRoutes, rates, stopRoutes } from './assertions.routes.ts';
import { assertionSettings, assertionsEnabled } from './assertions.settings.ts';
import { distrust } from './trust.ts';

const tables: TableUse = {
  owns: {
    assertion_trusts: { of: 'sso_connections' },
    assertion_clients: { rate: 'ssoClientWrite', kib: 64 },
    assertion_grants: { rate: 'oauthToken', kib: 16 },
    assertion_uses: { rate: 'oauthToken', kept: 'until they expire' },
  },
  reads: ['oauth_clients'], // a rule is for a client
  writes: [],
};

interface OfRule {
  readonly connectionId: string;
  readonly clientRuleId: string;
  readonly clientId: string;
}

const acts = {
  'sso.id_jag.updated': act<{ readonly connectionId: string; readonly enabled: boolean }>(),
  'sso.client.created': act<OfRule>(),
  'sso.client.updated': act<OfRule & { readonly changed: readonly string[] }>(),
  'sso.client.deleted': act<OfRule>(),
  'sso.stop.deleted': act<{ readonly stopId: string }>(),
};

const entries = { 'idjag.refused': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'idjag.refused': true;
  }
}

export const assertions = defineFeature({
  name: 'assertions',
  tags: { assertions: 'Identity providers that decide for their people, without a consent page.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['idjag.refused'],
  rates,
  settings: assertionSettings,
  listens: [on(tenantErased, eraseAssertions), on(issuerChanged, distrust), on(ownPageEntries, hasStops)],
  open(context, settings) {
    context.provide(assertionsEnabled, settings.ID_JAG_ENABLED);
    return {
      async routes(app) {
        await assertionRoutes(app, { ...context, ...context.lifetimes });
        await stopRoutes(app, context);
      },
    };
  },
});
