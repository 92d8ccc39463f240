import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { revokedGrantsOf } from '../../grants/grants/grants.queries.ts';

/** Standing grants that somebody here has ended, which keep the provider from giving another. */
export const stopsOf = (db: Executor, tenant: Tenant) =>
  db
    .selectFrom('assertionGrants as standing')
    .innerJoin(revokedGrantsOf(db, tenant), 'grant.grantId', 'standing.grantId')
    .where('standing.developerId', '=', tenant.developerId)
    .where('grant.revokedReason', 'in', STOPPING);

export const stopsOfPrincipal = (db: Executor, tenant: Tenant, principalId: string) =>
  stopsOf(db, tenant).where('standing.principalId', '=', principalId);

/**
 * The ends of a grant that keep the next assertion from making another: somebody here has ended it. Ends by time, by a new
 * ceiling, by the rule or by the identity provider itself do not.
 */
const STOPPING = ['developer', 'principal', 'anomaly', 'policy', 'admin'] as const;
export type StopReason = (typeof STOPPING)[number];

export const stopReasonOf = (reason: string | null): StopReason =>
  STOPPING.find((each) => each === reason) ?? 'developer';
