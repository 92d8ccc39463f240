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

/** Whether a user is linked at a connection already, and to which of its subjects. */
export async function subjectsOfUser(
  db: Executor,
  { developerId }: Tenant,
  connectionId: string,
  userId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('ssoIdentities')
    .select('subject')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('userId', '=', userId)
    .execute();
  return rows.map(({ subject }) => subject);
}
