import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { eraseAuthorizations, tellAuthorizations } from './wallet-authorizations.repo.ts';
import { walletRoutes } from './wallet-authorizations.routes.ts';

const tables: TableUse = {
  owns: { wallet_authorizations: { rate: 'plan', kib: 16 } },
  reads: [],
  writes: [],
};

interface OfAuthorization {
  readonly authorizationId: string;
}

const acts = {
  'wallet.authorization.issued': act<OfAuthorization>(),
  'wallet.authorization.consumed': act<OfAuthorization>(),
  'wallet.authorization.revoked': act<OfAuthorization>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const walletAuthorizations = defineFeature({
  name: 'wallet-authorizations',
  tags: { walletAuthorizations: 'Statements, each for one use, that an agent may move an amount.' },
  tables,
  acts,
  listens: [on(tenantErased, eraseAuthorizations), on(personExported, tellAuthorizations)],
  open: (context) => ({ routes: (app) => walletRoutes(app, context) }),
});
