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

/**
 * The ends of a grant that keep the next assertion from making another: somebody here has ended it. Ends by time, by a new
 * ceiling, by the rule or by the identity provider itself do not.
 */
const STOPPING = ['developer', 'principal', 'anomaly', 'policy', 'admin'] as const;
export type StopReason = (typeof STOPPING)[number];

export const stopReasonOf = (reason: string | null): StopReason =>
  STOPPING.find((each) => each === reason) ?? 'developer';

/** Whether a principal has such a stop. */
export async function hasStops(db: Executor, tenant: Tenant, principalId: string): Promise<boolean> {
  const stop = stopsOf(db, tenant).select('standing.id').where('standing.principalId', '=', principalId);
  return (await stop.limit(1).executeTakeFirst()) !== undefined;
}
