import { compactVerify, createLocalJWKSet } from 'jose';
import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { provisionPerson } from '../scim/index.ts';
import {
  addressIn,
  addressOfPrincipal,
  type Person,
  personById,
  userOfPrincipal,
} from '../scim/scim.queries.ts';
import { type Asserted, identityOf } from './claims.rules.ts';
import type { SsoDeps } from './deps.ts';
import { findIdentity, identitiesOfUser, insertIdentity, listActiveOidc } from './identities.repo.ts';
import { keysFor } from './keyset.ts';
import { countingAddress, freeName, isLinkedAt, personToLink, placeOf } from './naming.ts';
import { issuerMetadata } from './oidc.ts';
import { membersOf } from './secrets.ts';
import { type ConnectionRow, findConnection } from './sso.repo.ts';
import { isAdmitted } from './sso.rules.ts';

export type { ConnectionRow };

const slashless = (url: string) => url.replace(/\/$/, '');

/** The active connections of a developer at this issuer. The caller compares the issuer with its metadata too. */
export async function connectionsOfIssuer(
  db: Executor,
  tenant: Tenant,
  issuer: string,
): Promise<ConnectionRow[]> {
  const rows = await listActiveOidc(db, tenant);
  return rows.filter((row) => slashless(membersOf(row).issuerUrl ?? '') === slashless(issuer));
}

/** A connection of OpenID Connect that is in use. @returns undefined for any other */
export async function findActiveOidc(
  db: Executor,
  tenant: Tenant,
  id: string,
): Promise<ConnectionRow | undefined> {
  const row = await findConnection(db, tenant, id);
  return row?.protocol === 'oidc' && row.status === 'active' ? row : undefined;
}

/** Whether this developer has verified one of the connection's domains. */
export async function hasVerifiedDomain(
  db: Executor,
  tenant: Tenant,
  { domains }: Pick<ConnectionRow, 'domains'>,
): Promise<boolean> {
  for (const domain of domains) if (await isVerifiedBy(db, tenant, domain)) return true;
  return false;
}

const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/**
 * Whether the provider of a connection has signed an assertion that names it as the issuer.
 * @throws SERVICE_UNAVAILABLE when the provider shows no metadata or keys: nothing about the assertion was decided
 */
export async function isSignedByProvider(
  deps: Pick<SsoDeps, 'upstream' | 'clock'>,
  row: ConnectionRow,
  { assertion, issuer }: { readonly assertion: string; readonly issuer: string },
): Promise<boolean> {
  const { found } = await issuerMetadata(deps, membersOf(row).issuerUrl ?? '').catch(unavailable);
  if (found.issuer !== issuer) return false;
  const keys = await keysFor(deps, found, assertion);
  if (!keys) throw unavailable();
  const declared: ReadonlySet<string> = new Set(found.idTokenAlgorithms);
  const algorithms = declared.size > 0 ? ALGORITHMS.filter((each) => declared.has(each)) : ALGORITHMS;
  try {
    await compactVerify(assertion, createLocalJWKSet(keys), { algorithms });
    return true;
  } catch {
    return false; // jose throws for every token that is not good
  }
}

function unavailable(): never {
  throw new AppError('SERVICE_UNAVAILABLE', 'The identity provider cannot be used now; ask again.');
}

/** The person whom an assertion means. */
export interface MeantPerson {
  readonly person: Person;
  /** The write that makes the person known by this subject. */
  readonly needs: 'nothing' | 'link' | 'user';
}

/** The same subject of another customer is another person. A login names no customer. */
const isOfCustomer = ({ tenant }: { readonly tenant: string | null }, asserted: Asserted) =>
  tenant === null || tenant === asserted.tenant;

const same = (one: Person | undefined, other: Person | undefined) =>
  !one || !other || one.userId === other.userId;

/**
 * Finds whom an assertion means, and writes nothing. An address that it names has to be one that the connection admits.
 * @returns undefined for nobody, and `other_subject` for a user who is linked to another subject of the provider
 */
export async function findAsserted(
  db: Executor,
  tenant: Tenant,
  row: ConnectionRow,
  asserted: Asserted,
): Promise<MeantPerson | 'other_subject' | undefined> {
  const { email, isUnverified, subject } = asserted;
  if ((email !== undefined || isUnverified) && !isAdmitted(row.domains, email)) return undefined;
  const named = await personOfAudSubject(db, tenant, row, asserted);
  if (named === 'unknown') return undefined;
  const identity = await findIdentity(db, tenant, placeOf(row), identityOf(asserted));
  const known = identity && (await personById(db, tenant, identity.userId));
  if (known && !isOfCustomer(identity, asserted)) return undefined;
  if (known) return same(known, named) ? { person: known, needs: 'nothing' } : undefined;

  if (named)
    return (await isLinkedAt(db, tenant, row, named)) ? 'other_subject' : { person: named, needs: 'link' };
  const naming = { subject, address: await countingAddress(db, tenant, row, email) };
  const found = await personToLink(db, tenant, row, naming);
  if (found === 'other_subject') return found;
  if (found) return { person: found, needs: 'link' };
  if (!membersOf(row).jitProvisioning) return undefined;
  const userName = await freeName(db, tenant, row, naming);
  if (userName === undefined) return undefined;
  return { person: { userId: '', principalId: userName, isActive: true }, needs: 'user' };
}

async function personOfAudSubject(
  db: Executor,
  tenant: Tenant,
  row: ConnectionRow,
  asserted: Asserted,
): Promise<Person | 'unknown' | undefined> {
  const { audSubject } = asserted;
  if (audSubject === undefined) return undefined;
  const userId = await userOfPrincipal(db, tenant, audSubject);
  const person = userId === undefined ? undefined : await personById(db, tenant, userId);
  if (!person || person.principalId !== audSubject) return 'unknown';
  const identities = await identitiesOfUser(db, tenant, placeOf(row), person.userId);
  const isLinked = identities.some((identity) => isOfCustomer(identity, asserted));
  const address = (await addressOfPrincipal(db, tenant, audSubject)) ?? addressIn(audSubject);
  const counts = isLinked || (await countingAddress(db, tenant, row, address)) !== undefined;
  return counts ? person : 'unknown';
}

/**
 * Links or adds the person whom an assertion means, in the transaction that uses it. The caller holds `lockPeople`, has
 * found the person again under it, and records the acts.
 */
export async function settleAsserted(
  tx: Tx,
  caller: Caller,
  row: ConnectionRow,
  { asserted, meant, quotas }: { asserted: Asserted; meant: MeantPerson; quotas: Quotas },
  at: Date,
): Promise<Act[]> {
  if (meant.needs === 'nothing') return [];
  const { principalId } = meant.person;
  const email = (await countingAddress(tx, caller.tenant, row, asserted.email)) ?? null;
  const input = { userName: principalId, displayName: asserted.name ?? null, email };
  const made = meant.needs === 'user' ? await provisionPerson(tx, quotas, caller, input, at) : undefined;
  const { userId } = made?.person ?? meant.person;
  const subject = identityOf(asserted);
  const { tenant = null } = asserted;
  await insertIdentity(tx, caller.tenant, { ...placeOf(row), subject, tenant, userId, createdAt: at });
  const linked: Act = { type: 'sso.user_linked', data: { connectionId: row.id, userId } };
  return made ? [made.created, linked] : [linked];
}
