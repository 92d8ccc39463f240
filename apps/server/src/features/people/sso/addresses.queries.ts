import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { domainOf } from './sso.rules.ts';

/** The address with which a principal signed in last at a provider that speaks for its domain. */
export async function addressInSession(
  db: Executor,
  tenant: Tenant,
  principalId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('ssoSessions as session')
    .innerJoin('ssoConnections as connection', (join) =>
      join
        .onRef('connection.developerId', '=', 'session.developerId')
        .onRef('connection.id', '=', 'session.connectionId'),
    )
    .select('session.email')
    .where('session.developerId', '=', tenant.developerId)
    .where('connection.developerId', '=', tenant.developerId)
    .where('session.principalId', '=', principalId)
    .where(sql<boolean>`lower(split_part(session.email, '@', -1)) = any (connection.domains)`)
    .orderBy('session.id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const address = row?.email ?? undefined;
  return address !== undefined && (await isVerifiedBy(db, tenant, domainOf(address))) ? address : undefined;
}
