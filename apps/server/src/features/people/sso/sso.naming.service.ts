import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { principalsWithGrants } from '../../access/grants/grants.queries.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { principalsWithCredentials } from '../../vault/credentials/credentials.queries.ts';
import { principalsWithPasskeys } from '../passkeys/passkeys.queries.ts';
import { personByUserName, userOfPrincipal } from '../scim/scim.queries.ts';
import type { ConnectionRow } from './sso.repo.ts';
import { domainOf } from './sso.rules.ts';

/**
 * Takes an address where the provider of a connection speaks for it: in a domain that the connection lists and this
 * developer has verified. A provider that says so of any other address could take over the users of somebody else.
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

const LONGEST = 256; // characters of a `userName`

/**
 * Finds the name for a person whom nobody has added. The name becomes the principal id, which opens what the developer
 * keeps for it. Without an address that counts, the provider may therefore name no address, and nobody who is known here.
 * @returns undefined when the person can have no name
 */
export async function freeName(
  db: Executor,
  tenant: Tenant,
  row: Pick<ConnectionRow, 'domains'>,
  { subject, address }: Naming,
): Promise<string | undefined> {
  const isAddress = subject.includes('@');
  const own = address ?? (isAddress ? await countingAddress(db, tenant, row, subject) : undefined);
  if (own === undefined && (isAddress || (await isKnown(db, tenant, subject)))) return undefined;
  const name = own ?? subject;
  return name.length > LONGEST || (await personByUserName(db, tenant, name)) ? undefined : name;
}

/** Whether a user stands for a principal id, or something is kept for it. */
async function isKnown(db: Executor, tenant: Tenant, principalId: string): Promise<boolean> {
  if ((await userOfPrincipal(db, tenant, principalId)) !== undefined) return true;
  for (const principalsWith of [principalsWithGrants, principalsWithCredentials, principalsWithPasskeys]) {
    if ((await principalsWith(db, tenant, [principalId])).length > 0) return true;
  }
  return false;
}
