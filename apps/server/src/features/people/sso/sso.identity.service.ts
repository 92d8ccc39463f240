import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { membersOf } from './sso.connections.service.ts';
import type { SsoDeps } from './sso.deps.service.ts';
import type { SignedIn } from './sso.login.schema.ts';
import { authFailed, type Claimed } from './sso.outcomes.service.ts';
import type { Person } from './sso.people.service.ts';
import { type ConnectionRow, lockConnection, noteSuccess } from './sso.repo.ts';
import { domainOf, mappedScopes } from './sso.rules.ts';
import { findIdentity, insertIdentity, insertSession, useAssertion } from './sso.sessions.repo.ts';

/** A session with the secret that its browser gets. */
export interface OpenedSession {
  readonly signedIn: SignedIn;
  readonly secret: string;
}

/** An assertion that may be used once, until it runs out. */
export interface OnceOnly {
  readonly assertionId: string;
  readonly expiresAt: Date;
}

/**
 * Opens a session for a person whom the provider has identified. The session, the identity and the use of an assertion
 * commit together.
 * @throws SSO_DOMAIN_NOT_ALLOWED, SSO_USER_INACTIVE, SSO_NOT_PROVISIONED, SSO_AUTH_FAILED, NOT_FOUND
 */
export async function openSsoSession(
  deps: SsoDeps,
  caller: Caller,
  row: ConnectionRow,
  claimed: Claimed,
  onceOnly?: OnceOnly,
): Promise<OpenedSession> {
  const { tenant } = caller;
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const connection = await lockConnection(tx, tenant, row.id);
    if (!connection || connection.status === 'inactive') throw notFound();
    if (connection.version !== row.version) throw authFailed('connection_changed');
    if (onceOnly && !(await useAssertion(tx, tenant, { ...onceOnly, connectionId: row.id }, at))) {
      throw authFailed('assertion_used');
    }
    mustBeInDomains(connection, claimed);
    const members = membersOf(connection);
    const { person, isNew } = await personOf(deps, tx, connection, claimed);
    if (person && !person.isActive) throw new AppError('SSO_USER_INACTIVE', 'This person was deactivated.');
    if (!person && members.scimManaged) {
      throw new AppError('SSO_NOT_PROVISIONED', 'The identity provider has not provisioned this person.');
    }
    if (person && isNew) {
      const { subject } = claimed;
      await insertIdentity(tx, tenant, {
        connectionId: row.id,
        subject,
        userId: person.userId,
        createdAt: at,
      });
    }
    const secret = newSecret();
    const session = {
      id: newId('ssosess', at),
      connectionId: row.id,
      userId: person?.userId ?? null,
      principalId: person?.principalId ?? null,
      subject: claimed.idpSubject,
      email: claimed.email,
      name: claimed.name,
      groups: [...claimed.groups],
      mappedScopes: mappedScopes(members, claimed.groups),
      secretHash: hashOf(secret),
      createdAt: at,
      expiresAt: new Date(at.getTime() + deps.sessionSeconds * 1000),
    };
    await insertSession(tx, tenant, session);
    await noteSuccess(tx, tenant, row.id, { lastLoginAt: at });
    const { id: sessionId, principalId, email } = session;
    const login: Act = {
      type: 'sso.login',
      ...(principalId !== null && { principalId }),
      data: { connectionId: row.id, protocol: row.protocol, sessionId, principalId, email },
    };
    await recordActs(tx, caller, [login], at);
    return { signedIn: toSignedIn(tenant, session), secret };
  });
}

/** @throws SSO_DOMAIN_NOT_ALLOWED */
function mustBeInDomains({ domains }: ConnectionRow, { email }: Claimed): void {
  if (domains.length === 0 || (email !== null && domains.includes(domainOf(email)))) return;
  throw new AppError(
    'SSO_DOMAIN_NOT_ALLOWED',
    'The address of this person is in no domain of the connection.',
  );
}

/** Contract of B4: known identity, then the external id, then a trusted address. */
async function personOf(
  { people }: SsoDeps,
  db: Executor,
  row: ConnectionRow,
  claimed: Claimed,
): Promise<{ person: Person | undefined; isNew: boolean }> {
  const tenant = { developerId: row.developerId };
  const identity = await findIdentity(db, tenant, row.id, claimed.subject);
  const known = identity && (await people.byId(db, tenant, identity.userId));
  if (known) return { person: known, isNew: false };
  const named = membersOf(row).scimManaged
    ? await people.byExternalId(db, tenant, claimed.idpSubject)
    : undefined;
  if (named) return { person: named, isNew: true };
  const address = await linkingAddress(db, tenant, row, claimed);
  const person = address === undefined ? undefined : await people.byAddress(db, tenant, address);
  return { person, isNew: true };
}

/**
 * The address by which a user may be found: in a domain that the connection lists and this developer has verified. A
 * provider that says so of any other address could take over the users of somebody else.
 */
async function linkingAddress(
  db: Executor,
  tenant: Tenant,
  { domains }: ConnectionRow,
  { email }: Claimed,
): Promise<string | undefined> {
  if (email === null) return undefined;
  const domain = domainOf(email);
  return domains.includes(domain) && (await isVerifiedBy(db, tenant, domain)) ? email : undefined;
}

interface NewSession {
  readonly id: string;
  readonly subject: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly groups: string[];
  readonly mappedScopes: string[];
  readonly principalId: string | null;
  readonly expiresAt: Date;
}

const toSignedIn = ({ developerId }: Tenant, session: NewSession): SignedIn => ({
  sessionId: session.id,
  email: session.email,
  name: session.name,
  sub: session.subject,
  groups: session.groups,
  mappedScopes: session.mappedScopes,
  principalId: session.principalId,
  developerId,
  expiresAt: session.expiresAt.toISOString(),
});
