import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { ConnectionRow } from './sso.repo.ts';

/** The connections of a developer that are in use and speak OpenID Connect, by id. */
export const listActiveOidc = (db: Executor, { developerId }: Tenant): Promise<ConnectionRow[]> =>
  db
    .selectFrom('ssoConnections')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('protocol', '=', 'oidc')
    .where('status', '=', 'active')
    .orderBy('id')
    .execute();
