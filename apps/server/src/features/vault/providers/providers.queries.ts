import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** A developer's providers, to be joined by `provider.providerId`. */
export function providersOf(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('vaultProviders')
    .select(['id as providerId', 'name as providerName', 'status as providerStatus'])
    .where('developerId', '=', developerId)
    .as('provider');
}

/** Whether people can connect accounts of this service. */
export async function isConnectable(
  db: Executor,
  { developerId }: Tenant,
  service: string,
): Promise<boolean> {
  const found = await db
    .selectFrom('vaultProviders')
    .select('id')
    .where('developerId', '=', developerId)
    .where('service', '=', service)
    .where('status', '=', 'active')
    .executeTakeFirst();
  return found !== undefined;
}
