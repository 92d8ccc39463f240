import { authenticationColumns, secondOf } from '@behest/protocol/authentication';
import type { Act } from '../../../platform/acts.ts';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { seal } from '../../../platform/seal.ts';
import { recordActs } from '../../record/audit/index.ts';
import { lockPeople, provisionPerson } from '../scim/index.ts';
import { type Person, personById } from '../scim/scim.queries.ts';
import type { SsoDeps } from './deps.ts';
import { findIdentity, insertIdentity } from './identities.repo.ts';
import type { CreatedSsoSession } from './login.schema.ts';
import { countingAddress, freeName, personToLink, placeOf } from './naming.ts';
import { authFailed, type Claimed, OtherSubject } from './outcomes.ts';
import { membersOf } from './secrets.ts';
import { rightsOfOne } from './sessions.queries.ts';
import { insertSession, useAssertion } from './sessions.repo.ts';
import { type ConnectionRow, lockConnection, noteSuccess } from './sso.repo.ts';
import { isAdmitted } from './sso.rules.ts';

/** A session with the secret that its browser gets. */
export interface OpenedSession {
  readonly signedIn: CreatedSsoSession;
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
    const { person, acts } = await personWith(tx, deps.quotas, caller, { row: connection, claimed, at });
    if (person && !(person.isActive && (await holdPrincipal(tx, tenant, person.principalId))))
      throw inactive();
    if (!person && members.scimManaged) {
      throw new AppError('SSO_NOT_PROVISIONED', 'The identity provider has not provisioned this person.');
    }
    const secret = newSecret();
    const userId = person?.userId ?? null;
    const { groups: claimedGroups } = claimed;
    const rights = await rightsOfOne(tx, tenant, { userId, groups: claimedGroups, settings: members });
    const sessionId = newId('ssosess', at);
    const session = {
      id: sessionId,
      connectionId: row.id,
      userId,
      principalId: person?.principalId ?? null,
      subject: claimed.idpSubject,
      email: claimed.email,
      name: claimed.name,
      groups: [...claimedGroups],
      mappedScopes: rights.mappedScopes, // for the release before
      idpSession: claimed.idpSession ?? null,
      logoutHint: logoutHintOf(deps, sessionId, claimed.idToken),
      secretHash: hashOf(secret),
      createdAt: at,
      ...authenticationColumns({ at: signedInAt(claimed, at), methods: claimed.methods ?? [] }),
      expiresAt: new Date(at.getTime() + deps.sessionSeconds * 1000),
    };
    await insertSession(tx, tenant, session);
    await noteSuccess(tx, tenant, row.id, { lastLoginAt: at });
    const { principalId, email } = session;
    const login: Act = {
      type: 'sso.login',
      ...(principalId !== null && { principalId }),
      data: { connectionId: row.id, protocol: row.protocol, sessionId, principalId, email },
    };
    await recordActs(tx, caller, [...acts, login], at);
    return { signedIn: toSignedIn(tenant, { ...session, ...rights }), secret };
  });
}

const inactive = () => new AppError('SSO_USER_INACTIVE', 'This person was deactivated.');

const LONGEST_HINT = 8192; // characters, so that an address with it passes every server

/** The ID token for the end of a session, sealed. */
const logoutHintOf = (
  { stateKeys }: Pick<SsoDeps, 'stateKeys'>,
  sessionId: string,
  idToken: string | undefined,
): Buffer | null =>
  idToken === undefined || idToken.length > LONGEST_HINT
    ? null
    : seal(stateKeys, idToken, Buffer.from(sessionId));

/** A provider whose clock is ahead has not seen the future. */
const signedInAt = ({ authTime }: Claimed, at: Date) =>
  secondOf(authTime === undefined ? at.getTime() : Math.min(at.getTime(), authTime * 1000));

/** @throws SSO_DOMAIN_NOT_ALLOWED */
function mustBeInDomains({ domains }: ConnectionRow, { email, isUnverified }: Claimed): void {
  if (isAdmitted(domains, email)) return;
  if (isUnverified) {
    throw new AppError(
      'SSO_DOMAIN_NOT_ALLOWED',
      'The identity provider says that it has not verified the address of this person. Verify the address there.',
      { sub_reason: 'email_unverified' },
    );
  }
  if (email === null) {
    throw new AppError(
      'SSO_DOMAIN_NOT_ALLOWED',
      'The identity provider sent no address of this person, and the connection admits the addresses of its domains. Let the provider send `email`, or set `emailAttribute`.',
      { sub_reason: 'no_email' },
    );
  }
  throw new AppError(
    'SSO_DOMAIN_NOT_ALLOWED',
    'The address of this person is in no domain of the connection.',
  );
}

interface Resolved {
  readonly person: Person | undefined;
  readonly acts: readonly Act[];
}

/** Finds the user of an identity, links one, or adds one where the connection says so. @throws SSO_USER_INACTIVE, SSO_ACCOUNT_CONFLICT */
async function personWith(
  tx: Tx,
  quotas: Quotas,
  caller: Caller,
  { row, claimed, at }: { readonly row: ConnectionRow; readonly claimed: Claimed; readonly at: Date },
): Promise<Resolved> {
  const { tenant } = caller;
  await lockPeople(tx, tenant); // so that nobody leaves before the session is there
  const place = placeOf(row);
  const identity = await findIdentity(tx, tenant, place, claimed.subject);
  const known = identity && (await personById(tx, tenant, identity.userId));
  if (known) return { person: known, acts: [] };
  const { idpSubject, subject } = claimed;
  const address = await countingAddress(tx, tenant, row, claimed.email);
  const found = await personToLink(tx, tenant, row, { subject: idpSubject, address });
  if (found === 'other_subject') throw new OtherSubject({ subject, address });
  if (!found && !membersOf(row).jitProvisioning) return { person: undefined, acts: [] };
  const { person, acts } = found
    ? { person: found, acts: [] }
    : await added(tx, caller, { row, claimed, address, quotas }, at);
  await insertIdentity(tx, tenant, { ...place, subject, userId: person.userId, createdAt: at });
  const data = { connectionId: row.id, userId: person.userId };
  return { person, acts: [...acts, { type: 'sso.user_linked', data }] };
}

const conflict = () =>
  new AppError(
    'SSO_ACCOUNT_CONFLICT',
    'The provider names this person as somebody is, or was, named here. Provision the person under another name.',
  );

interface Added {
  readonly row: ConnectionRow;
  readonly claimed: Claimed;
  readonly address: string | undefined;
  readonly quotas: Quotas;
}

/** Adds the person just in time. @throws SSO_USER_INACTIVE, SSO_ACCOUNT_CONFLICT when the provider may not give the name */
async function added(tx: Tx, caller: Caller, { row, claimed, address, quotas }: Added, at: Date) {
  const userName = await freeName(tx, caller.tenant, row, { subject: claimed.idpSubject, address });
  if (userName === undefined) throw conflict();
  if (!(await holdPrincipal(tx, caller.tenant, userName))) throw inactive(); // offboarded, and gone from the directory
  const input = { userName, displayName: claimed.name, email: address ?? null };
  const { person, created } = await provisionPerson(tx, quotas, caller, input, at).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'CONFLICT' ? conflict() : error;
  });
  return { person, acts: [created] };
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

const toSignedIn = ({ developerId }: Tenant, session: NewSession): CreatedSsoSession => ({
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
