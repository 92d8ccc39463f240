import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { connectionActivated, ssoParts } from '../sso/index.ts';
import { endLinksOfAccount, endSessionsOfConnection } from './links.ts';
import { eraseLinks } from './setup.repo.ts';
import { rates, setupLinkRoutes, setupPageRoutes } from './setup.routes.ts';

const tables: TableUse = {
  owns: { setup_links: { rate: 'setupLinkWrite', kept: '30 days after their end' } },
  reads: [],
  writes: [],
};

interface OfLink {
  readonly setupId: string;
  readonly name: string;
}

const acts = {
  'setup.link.created': act<OfLink & { readonly purposes: readonly string[] }>(),
  'setup.link.revoked': act<OfLink>(),
  'setup.link.opened': act<OfLink>(),
  'setup.finished': act<OfLink & { readonly connectionId: string | null }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const setup = defineFeature({
  name: 'setup',
  tags: { setup: 'Links by which customers’ administrators set up single sign-on and provisioning.' },
  tables,
  acts,
  rates,
  listens: [
    on(accountClosed, endLinksOfAccount),
    on(connectionActivated, endSessionsOfConnection),
    on(tenantErased, eraseLinks),
  ],
  open(context) {
    const deps = context.take(ssoParts);
    return {
      async routes(app) {
        await setupLinkRoutes(app, context);
        await setupPageRoutes(app, deps);
      },
    };
  },
});
