import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import {
  addressesOfUser,
  type Person,
  personByAddress,
  personByExternalId,
  personByUserName,
  userOfPrincipal,
} from '../scim/scim.queries.ts';
import { type IdentityPlace, identitiesOfUser } from './identities.repo.ts';
import { membersOf } from './secrets.ts';
import { type ConnectionRow, findOfDomain } from './sso.repo.ts';
import { domainOf, LONGEST_NAME, nameWithin, providerOf } from './sso.rules.ts';

/**
 * Takes an address where the provider of a connection speaks for it: in a domain that this developer has verified, and
 * that is the connection's. A provider that says so of any other address could take over the users of somebody else.
 */
export async function countingAddress(
  db: Executor,
  tenant: Tenant,
  { domains }: Pick<ConnectionRow, 'domains'>,
  address: string | null | undefined,
): Promise<string | undefined> {
  if (address === null || address === undefined) return undefined;
  const domain = domainOf(address);
  return domains.includes(domain) && (await isVerifiedBy(db, tenant, domain)) ? address : undefined;
}

/** A person as a provider names them. */
export interface Naming {
  readonly subject: string;
  /** An address that counts for the connection. */
  readonly address: string | undefined;
}

export const placeOf = (row: Pick<ConnectionRow, 'id' | 'settings'>): IdentityPlace => ({
  connectionId: row.id,
  provider: providerOf(membersOf(row)),
});

/**
 * Finds whom a subject means that is not linked yet: the user of its external id, where the provider provisions its
 * people, or of its address. An external id finds nobody whose address another connection admits: the directory is one
 * for all customers of the account, and a provider chooses its subjects.
 * @returns undefined for nobody, and `other_subject` for a user who is linked to another subject of the provider
 */
export async function personToLink(
  db: Executor,
  tenant: Tenant,
  row: ConnectionRow,
  { subject, address }: Naming,
): Promise<Person | 'other_subject' | undefined> {
  const named = membersOf(row).scimManaged ? await personByExternalId(db, tenant, subject) : undefined;
  const own = named && (await isOfAnother(db, tenant, row, named)) ? undefined : named;
  const found = own ?? (address === undefined ? undefined : await personAt(db, tenant, address));
  return found && (await isLinkedAt(db, tenant, row, found)) ? 'other_subject' : found;
}

async function isOfAnother(
  db: Executor,
  tenant: Tenant,
  row: ConnectionRow,
  person: Person,
): Promise<boolean> {
  const domains = new Set((await addressesOfUser(db, tenant, person)).map(domainOf));
  if (row.domains.some((domain) => domains.has(domain))) return false;
  for (const domain of domains) if (await findOfDomain(db, tenant, domain)) return true;
  return false;
}

/** Whether a user is known by a subject of the connection's provider. */
export const isLinkedAt = async (
  db: Executor,
  tenant: Tenant,
  row: Pick<ConnectionRow, 'id' | 'settings'>,
  { userId }: Pick<Person, 'userId'>,
): Promise<boolean> => (await identitiesOfUser(db, tenant, placeOf(row), userId)).length > 0;

const personAt = async (db: Executor, tenant: Tenant, address: string): Promise<Person | undefined> =>
  (await personByUserName(db, tenant, address)) ?? personByAddress(db, tenant, address);

/**
 * The name for a person whom nobody has added, which becomes the principal id and opens what the developer keeps for it:
 * an address that counts, or else the subject in the connection's own space, where no application has an id.
 * @returns undefined where somebody has, or had, the name
 */
export async function freeName(
  db: Executor,
  tenant: Tenant,
  { id }: Pick<ConnectionRow, 'id'>,
  { subject, address }: Naming,
): Promise<string | undefined> {
  const name = address ?? nameWithin(id, subject);
  const isFree = name.length <= LONGEST_NAME && (await userOfPrincipal(db, tenant, name)) === undefined;
  return isFree ? name : undefined;
}
