import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** The origins of a service's profile, and whether it leaves exchange open, as a credential is stored with them. */
export async function frozenProfile(db: Executor, { developerId }: Tenant, service: string) {
  const row = await db
    .selectFrom('vaultProxyProfiles')
    .select(['profile', 'proxyOnly'])
    .where('developerId', '=', developerId)
    .where('service', '=', service)
    .executeTakeFirst();
  if (!row) return undefined;
  const origins = Object.values(Object(row.profile).upstreams ?? {}).map(String);
  return { origins, exchange: row.proxyOnly ? 'proxy_only' : 'allowed' } as const;
}
