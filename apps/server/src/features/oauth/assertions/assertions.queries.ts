import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { revokedGrantsOf } from '../../grants/grants/grants.queries.ts';
import { STOPPING } from './stops.rules.ts';

/** Standing grants that somebody here has ended, which keep the provider from giving another. */
export const stopsOf = (db: Executor, tenant: Tenant) =>
  db
    .selectFrom('assertionGrants as standing')
    .innerJoin(revokedGrantsOf(db, tenant), 'grant.grantId', 'standing.grantId')
    .where('standing.developerId', '=', tenant.developerId)
    .where('grant.revokedReason', 'in', STOPPING);

export const stopsOfPrincipal = (db: Executor, tenant: Tenant, principalId: string) =>
  stopsOf(db, tenant).where('standing.principalId', '=', principalId);
