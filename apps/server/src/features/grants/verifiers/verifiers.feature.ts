import { defineFeature } from '../../../feature.ts';
import { act, announcement, type DataOf } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { createCalledWaits } from '../../record/events/index.ts';
import { confirmations, MAX_VERIFIERS } from './register.ts';
import { eraseVerifiers } from './verifiers.repo.ts';
import { rates, verifierRoutes } from './verifiers.routes.ts';

const tables: TableUse = {
  owns: { verifiers: { most: MAX_VERIFIERS, kib: 2 }, revocation_statements: { of: 'grants', kib: 64 } },
  reads: [],
  writes: [],
};

const acts = {
  'verifier.registered': act<{
    readonly verifierId: string;
    readonly name: string;
    /** RFC 7638. */
    readonly keyThumbprint: string;
  }>(),
  'revocation.stated': act<{
    readonly complete: boolean;
    // How many verifiers are in each state.
    readonly confirmed: number;
    readonly lapsed: number;
    readonly unconfirmed: number;
    /** The hash of the statement, in hex. */
    readonly sha256: string;
  }>(),
};

const announcements = {
  'revocation.confirmation_requested': announcement<{
    /** The position in the audit chain that verifiers confirm. */
    readonly seq: number;
    readonly hash: string;
  }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Announcements extends DataOf<typeof announcements> {}
}

export const verifiers = defineFeature({
  name: 'verifiers',
  tags: { verifiers: 'Programs that confirm that they accept a revoked grant no more.' },
  tables,
  acts: { ...acts, ...announcements },
  rates,
  listens: [on(tenantErased, eraseVerifiers)],
  open(context) {
    const waits = context.provide(confirmations, createCalledWaits(context.store, 'bh:confirmations'));
    return { routes: (app) => verifierRoutes(app, { ...context, waits }) };
  },
});
