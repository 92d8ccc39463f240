import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** An authorization request, for queries that join other tables to it. */
export function requestOf(db: Executor, { developerId }: Tenant, requestId: string) {
  return db
    .selectFrom('authRequests as request')
    .selectAll('request')
    .where('request.developerId', '=', developerId)
    .where('request.id', '=', requestId);
}
