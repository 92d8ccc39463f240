import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { lookUp } from '../../../platform/db/statement.ts';

const hostOf = lookUp<{ domain: string }, [developerId: string]>(
  'find_page_host',
  'select domain from verified_domains where developer_id = $1 order by domain_id limit 1',
);

/** The verified domain that the developer registered first. */
export async function findPageHost(db: Executor, { developerId }: Tenant): Promise<string | undefined> {
  return (await hostOf(db, developerId))[0]?.domain;
}

const verifiedHost = lookUp<{ domain: string }, [domain: string]>(
  'find_verified_host',
  'select domain from verified_domains where domain = $1',
);

/** It takes no tenant by design: browsers name the host. */
export async function isVerifiedAcrossTenants(db: Executor, host: string): Promise<boolean> {
  return (await verifiedHost(db, host)).length > 0;
}

/** Whether this developer has proved that the domain is theirs. */
export async function isVerifiedBy(db: Executor, { developerId }: Tenant, domain: string): Promise<boolean> {
  const found = await db
    .selectFrom('verifiedDomains')
    .select('domain')
    .where('domain', '=', domain)
    .where('developerId', '=', developerId)
    .executeTakeFirst();
  return found !== undefined;
}

/** It takes no tenant by design: a person brings an address, and wants to know where to sign in. */
export async function ownerOfDomainAcrossTenants(db: Executor, domain: string): Promise<Tenant | undefined> {
  return db
    .selectFrom('verifiedDomains')
    .select('developerId')
    .where('domain', '=', domain)
    .executeTakeFirst();
}
