import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { SsoConnections } from '../../../platform/db/types.gen.ts';
import { AppError } from '../../../platform/errors.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { addressIn, userOfPrincipal } from '../scim/scim.queries.ts';
import { domainOf, loginPath, nameWithin, providerOf, type SsoMembers } from './sso.rules.ts';

export type Active = Pick<Selectable<SsoConnections>, 'id' | 'domains' | 'settings' | 'enforce'>;

/** The active connections of a developer, in a stable order. */
export const activeOf = (db: Executor, { developerId }: Tenant) =>
  db
    .selectFrom('ssoConnections')
    .select(['id', 'domains', 'settings', 'enforce'])
    .where('developerId', '=', developerId)
    .where('status', '=', 'active')
    .orderBy('id');

/** The connections that a developer enforces, for queries that ask whether there is one. */
export const enforcingOf = (db: Executor, tenant: Tenant) => activeOf(db, tenant).where('enforce', '=', true);

/** @throws CONFLICT for an account whose people are to sign in at a provider, and that has none in use */
export async function mustHaveActiveConnection(db: Executor, tenant: Tenant): Promise<void> {
  if (await activeOf(db, tenant).limit(1).executeTakeFirst()) return;
  const message =
    '`consentMode` sso needs an active connection for single sign-on. Activate one first, or choose another mode.';
  throw new AppError('CONFLICT', message, { setting: 'consentMode' });
}

/** The domain of a principal id that is an address. Empty for any other id. */
export const domainOfPrincipal = (principalId: string): string => domainOf(addressIn(principalId) ?? '@');

/** The active connections, as far as they concern a principal. */
export interface Concern {
  readonly active: readonly Active[];
  /** The user for whom the principal stands. */
  readonly userId: string | undefined;
  /** The enforced connection of the principal: that of a linked user, or of the principal's own verified domain. */
  readonly enforced: Active | undefined;
  /** The connection at which the principal signs in, where one can be told. */
  readonly leading: Active | undefined;
}

export async function concernOf(
  db: Executor,
  tenant: Tenant,
  principalId: string,
  active: readonly Active[],
): Promise<Concern> {
  if (active.length === 0) return { active, userId: undefined, enforced: undefined, leading: undefined };
  const userId = await userOfPrincipal(db, tenant, principalId);
  const linked = userId === undefined ? [] : await connectionsOfUser(db, tenant, userId);
  const domain = domainOfPrincipal(principalId);
  const isLinked = ({ id }: Active) => linked.includes(id);
  const lists = ({ domains }: Active) => domains.includes(domain);
  const listing = active.find((one) => one.enforce && lists(one));
  const enforced =
    active.find((one) => one.enforce && isLinked(one)) ??
    (listing && (await isVerifiedBy(db, tenant, domain)) ? listing : undefined);
  const [only, other] = active.filter(({ domains }) => domains.length === 0);
  const single = active.length === 1 ? active[0] : other ? undefined : only;
  const leading = enforced ?? active.find(isLinked) ?? active.find(lists) ?? single;
  return { active, userId, enforced, leading };
}

/** Where a person signs in. */
export interface SignInAt {
  readonly connectionId: string;
  /** Below the address of the service. */
  readonly loginPath: string;
}

export const signInAt = ({ developerId }: Tenant, { id }: Active): SignInAt => ({
  connectionId: id,
  loginPath: loginPath(developerId, id),
});

/** Whether single sign-on is enforced for a principal. */
export async function isEnforcedFor(db: Executor, tenant: Tenant, principalId: string): Promise<boolean> {
  const active = await activeOf(db, tenant).execute();
  const isNone = !active.some(({ enforce }) => enforce);
  return !isNone && (await concernOf(db, tenant, principalId, active)).enforced !== undefined;
}

export async function hasConnection(db: Executor, { developerId }: Tenant, id: string): Promise<boolean> {
  const found = await db
    .selectFrom('ssoConnections')
    .select('id')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
  return found !== undefined;
}

/** Active connections by which people come into the console, or the one of an id. Two are enough to see that there are several. */
export async function findTwoOfConsole(db: Executor, tenant: Tenant, id?: string): Promise<string[]> {
  const all = activeOf(db, tenant).where(opensConsoleNow).limit(2);
  const rows = await (id === undefined ? all : all.where('id', '=', id)).execute();
  return rows.map((row) => row.id);
}

export const opensConsoleNow = sql<boolean>`settings->>'consoleAccess' = 'true'`;

/** Whether single sign-on is enforced for any principals of the developer. */
export const isEnforced = async (db: Executor, tenant: Tenant): Promise<boolean> =>
  (await enforcingOf(db, tenant).executeTakeFirst()) !== undefined;

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

/** A connection, as far as signals of its provider are concerned. */
export interface SignallingConnection {
  readonly id: string;
  readonly status: 'active' | 'inactive' | 'testing';
  readonly domains: readonly string[];
  readonly enforce: boolean;
  readonly scimManaged: boolean;
  /** The issuer of an OpenID provider, or the entity id of a SAML one. */
  readonly issuer: string | undefined;
  /** As its identities name it. */
  readonly provider: string;
}

export async function findSignallingConnection(
  db: Executor,
  { developerId }: Tenant,
  id: string,
): Promise<SignallingConnection | undefined> {
  const row = await db
    .selectFrom('ssoConnections')
    .select(['id', 'status', 'domains', 'enforce', 'settings'])
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  const members: SsoMembers = Object(row.settings); // stored by this service
  const { issuerUrl, idpEntityId, scimManaged } = members;
  return { ...row, scimManaged, issuer: issuerUrl ?? idpEntityId, provider: providerOf(members) };
}

/** The user who stands for a subject of the provider that a connection has. */
export async function userOfSubject(
  db: Executor,
  { developerId }: Tenant,
  { id, provider }: Pick<SignallingConnection, 'id' | 'provider'>,
  subjects: readonly string[],
): Promise<string | undefined> {
  const row = await db
    .selectFrom('ssoIdentities')
    .select('userId')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', id)
    .where(({ eb, or }) => or([eb('provider', '=', provider), eb('provider', 'is', null)]))
    .where('subject', 'in', subjects)
    .executeTakeFirst();
  return row?.userId;
}

/** The connections at which a user has signed in. */
export async function connectionsOfUser(
  db: Executor,
  { developerId }: Tenant,
  userId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('ssoIdentities')
    .select('connectionId')
    .where('developerId', '=', developerId)
    .where('userId', '=', userId)
    .execute();
  return rows.map(({ connectionId }) => connectionId);
}

/** The names under which a user's subjects would be added who have no address that counts. */
export async function namesBySignOn(
  db: Executor,
  { developerId }: Tenant,
  userId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('ssoIdentities as identity')
    .innerJoin('ssoConnections as connection', (join) =>
      join
        .onRef('connection.developerId', '=', 'identity.developerId')
        .onRef('connection.id', '=', 'identity.connectionId'),
    )
    .select(['identity.connectionId', 'identity.subject', 'connection.protocol'])
    .where('identity.developerId', '=', developerId)
    .where('connection.developerId', '=', developerId)
    .where('identity.userId', '=', userId)
    .execute();
  return rows.map(({ connectionId, subject, protocol }) => {
    const own = protocol === 'ldap' ? 0 : subject.indexOf('|') + 1; // behind the issuer, or the format of a name id
    return nameWithin(connectionId, subject.slice(own));
  });
}

/** The user of a live session that the provider names. */
export async function userOfIdpSession(
  db: Executor,
  { developerId }: Tenant,
  connectionId: string,
  idpSession: string,
): Promise<{ readonly userId: string | null } | undefined> {
  return db
    .selectFrom('ssoSessions')
    .select('userId')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('idpSession', '=', idpSession)
    .executeTakeFirst();
}

/** A connection, as far as an administrator enters its values at the provider. */
export async function findSetUpConnection(db: Executor, { developerId }: Tenant, id: string) {
  const row = await db
    .selectFrom('ssoConnections')
    .select(['protocol', 'settings'])
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { spEntityId, spAcsUrl }: SsoMembers = Object(row.settings); // stored by this service
  return { protocol: row.protocol, spEntityId, spAcsUrl };
}
