import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** The counter of a resource, to be joined. It has no row where nothing was ever counted. */
export function quotaUse(db: Executor, { developerId }: Tenant, resource: string) {
  return db
    .selectFrom('quotaCounters')
    .select('used')
    .where('developerId', '=', developerId)
    .where('resource', '=', resource)
    .as('quota');
}
