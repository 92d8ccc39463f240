import type { Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { SsoSessions } from '../../../platform/db/types.gen.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { groupsOfUsers } from '../scim/scim.queries.ts';
import { type Active, activeOf, concernOf, opensConsoleNow, type SignInAt, signInAt } from './sso.queries.ts';
import {
  consoleRoleOf,
  domainOf,
  isSince,
  mappedScopes,
  providerOf,
  type SignIn,
  SKEW_MS,
  type SsoMembers,
  signInOf,
} from './sso.rules.ts';

const liveSessions = (db: Executor, { developerId }: Tenant, now: Date) =>
  db
    .selectFrom('ssoSessions')
    .select(['connectionId', 'userId', 'groups', 'secretHash', 'expiresAt'])
    .select(['createdAt', 'authenticatedAt', 'authMethods'])
    .where('developerId', '=', developerId)
    .where('expiresAt', '>', now);

/**
 * The connection that demands a session of a principal who has none. The active connections stay locked until the
 * commit, so that a session which the caller opens is seen by an enforcement that begins at the same time.
 */
export async function demandedOf(
  tx: Tx,
  tenant: Tenant,
  principalId: string,
  now: Date,
): Promise<SignInAt | undefined> {
  const active = await tx
    .selectFrom('ssoConnections')
    .select(['id', 'domains', 'settings', 'enforce'])
    .where('developerId', '=', tenant.developerId)
    .where('status', '=', 'active')
    .orderBy('id')
    .forShare()
    .execute();
  const { enforced, userId = '' } = await concernOf(tx, tenant, principalId, active);
  if (!enforced) return undefined;
  const live = await liveSessions(tx, tenant, now)
    .where('connectionId', '=', enforced.id)
    .where('userId', '=', userId)
    .limit(1)
    .executeTakeFirst();
  return live ? undefined : signInAt(tenant, enforced);
}

/** A browser's own session, as far as it counts for a principal. */
export interface OwnSession {
  readonly expiresAt: Date;
  readonly mappedScopes: readonly string[];
  /** Whether the principal may approve no other scopes than those. */
  readonly limitsScopes: boolean;
  readonly authentication: SignIn;
}

/** The stand of single sign-on between a person's browser and an approval. */
export interface SignOnState {
  readonly signInAt: SignInAt | undefined;
  readonly session: OwnSession | undefined;
  /** The browser has a session, of somebody else. */
  readonly isOtherPerson: boolean;
  /** The person signed in too long ago for this request. */
  readonly isTooOld: boolean;
}

interface SignOnQuestion {
  readonly principalId: string;
  readonly now: Date;
  /** The id of the session that the browser's cookie names, and the hash of the cookie's secret. */
  readonly cookie: { readonly id: string; readonly secretHash: Buffer } | undefined;
  /** The earliest sign-in that counts; null for any. */
  readonly since: Date | null;
  /** Whether a session is demanded also where no connection enforces it. */
  readonly isDemanded: boolean;
}

/** @returns undefined where single sign-on is not demanded of the principal */
export async function standingOf(
  db: Executor,
  tenant: Tenant,
  { principalId, now, cookie, since, isDemanded }: SignOnQuestion,
): Promise<SignOnState | undefined> {
  const concern = await concernOf(db, tenant, principalId, await activeOf(db, tenant).execute());
  const { active, userId, enforced, leading } = concern;
  if (!enforced && !isDemanded) return undefined;
  const found =
    cookie && (await liveSessions(db, tenant, now).where('id', '=', cookie.id).executeTakeFirst());
  const held = cookie && found?.secretHash.equals(cookie.secretHash) ? found : undefined;
  const connection = active.find(({ id }) => id === held?.connectionId);
  const isOwn = userId !== undefined && held?.userId === userId;
  const isTooOld = isOwn && held !== undefined && !isSince(held, since);
  const counts = isOwn && !isTooOld && connection && (!enforced || connection.id === enforced.id);
  return {
    signInAt: leading && signInAt(tenant, leading),
    session: counts ? await ownSession(db, tenant, held, connection) : undefined,
    isOtherPerson: held !== undefined && !isOwn,
    isTooOld,
  };
}

type HeldSession = Pick<
  Selectable<SsoSessions>,
  'userId' | 'groups' | 'expiresAt' | 'createdAt' | 'authenticatedAt' | 'authMethods'
>;

async function ownSession(
  db: Executor,
  tenant: Tenant,
  session: HeldSession,
  { settings }: Active,
): Promise<OwnSession> {
  const { userId, groups, expiresAt } = session;
  const { groupMappings }: SsoMembers = Object(settings); // stored by this service
  const limitsScopes = Object.keys(groupMappings).length > 0;
  const { mappedScopes } = await rightsOfOne(db, tenant, { userId, groups, settings });
  return { expiresAt, mappedScopes, limitsScopes, authentication: signInOf(session) };
}

interface Naming extends Pick<SignOnQuestion, 'now' | 'cookie' | 'since'> {
  /** Whether the browser comes from signing in for this very request. */
  readonly isSignedIn: boolean;
}

/**
 * The principal whom the browser's own live session names. Whether the session proves enough, the consent page decides. A
 * provider whose clock is behind is forgiven after a sign-in for the request alone.
 */
export async function principalOfSession(
  db: Executor,
  tenant: Tenant,
  { now, cookie, since, isSignedIn }: Naming,
): Promise<string | undefined> {
  if (!cookie) return undefined;
  const held = await liveSessions(db, tenant, now)
    .select('principalId')
    .where('id', '=', cookie.id)
    .executeTakeFirst();
  if (!held?.secretHash.equals(cookie.secretHash)) return undefined;
  return isSince(held, since, isSignedIn ? SKEW_MS : 0) ? (held.principalId ?? undefined) : undefined;
}

/** A browser's own session at a connection by which people come into the console. */
export interface ConsoleSignOn {
  readonly id: string;
  readonly connectionId: string;
  /** The provider and the subject there: no other connection, and no other provider of this one, has the same. */
  readonly subject: string;
  readonly email: string | null;
  readonly name: string | null;
  /** By the groups of the sign-in alone: who writes the directory does not decide who comes into the console. */
  readonly role: ReturnType<typeof consoleRoleOf>;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export async function consoleSignOnOf(
  db: Executor,
  tenant: Tenant,
  { now, cookie }: Required<Pick<SignOnQuestion, 'now' | 'cookie'>>,
): Promise<ConsoleSignOn | undefined> {
  if (!cookie) return undefined;
  const held = await liveSessions(db, tenant, now)
    .select(['id', 'subject', 'email', 'name'])
    .where('id', '=', cookie.id)
    .executeTakeFirst();
  if (!held?.secretHash.equals(cookie.secretHash)) return undefined;
  const connection = await activeOf(db, tenant)
    .where('id', '=', held.connectionId)
    .where('updatedAt', '<=', held.createdAt) // what its groups mean may be another thing now
    .where(opensConsoleNow)
    .executeTakeFirst();
  if (!connection) return undefined;
  const members: SsoMembers = Object(connection.settings); // stored by this service
  const { id, connectionId, email, name, createdAt, expiresAt } = held;
  const subject = JSON.stringify([providerOf(members), held.subject]);
  const role = consoleRoleOf(members, held.groups);
  return { id, connectionId, subject, email, name, role, createdAt, expiresAt };
}

interface AskingVoucher extends Pick<SignOnQuestion, 'now' | 'cookie'> {
  readonly address: string;
}

/** The connection that speaks for the verified domain of an address, and the browser's own session there. */
export interface Vouching {
  readonly loginPath: string;
  readonly session:
    | (Pick<Selectable<SsoSessions>, 'email' | 'subject' | 'userId'> & { readonly issuer: string })
    | undefined;
}

/** @returns undefined for an address whose domain is not verified, or has no active connection */
export async function vouchingFor(
  db: Executor,
  tenant: Tenant,
  { address, now, cookie }: AskingVoucher,
): Promise<Vouching | undefined> {
  const domain = domainOf(address);
  const active = await activeOf(db, tenant).execute();
  const connection = active.find(({ domains }) => domains.includes(domain));
  if (!connection || !(await isVerifiedBy(db, tenant, domain))) return undefined;
  const { loginPath } = signInAt(tenant, connection);
  const held =
    cookie &&
    (await liveSessions(db, tenant, now)
      .select(['email', 'subject'])
      .where('id', '=', cookie.id)
      .where('connectionId', '=', connection.id)
      .executeTakeFirst());
  if (!held?.secretHash.equals(cookie?.secretHash ?? Buffer.alloc(0)))
    return { loginPath, session: undefined };
  const members: SsoMembers = Object(connection.settings); // stored by this service
  const { email, subject, userId } = held;
  const issuer = members.issuerUrl ?? providerOf(members);
  return { loginPath, session: { email, subject, userId, issuer } };
}

/** A session, as far as its groups go, with the settings of its connection. */
export interface Grouped {
  readonly userId: string | null;
  /** The groups that the identity provider named at the login. */
  readonly groups: readonly string[];
  readonly settings: unknown;
}

export interface Rights {
  /** The groups of the login, and then those groups of the directory that the connection maps. */
  readonly groups: string[];
  readonly mappedScopes: string[];
}

/**
 * The groups and scopes that count for some sessions at this time, in their order: an identity provider that takes a
 * person out of a group by SCIM does not wait for the next login, and neither does a mapping that changes.
 */
export async function rightsOf(
  db: Executor,
  tenant: Tenant,
  sessions: readonly Grouped[],
): Promise<readonly Rights[]> {
  const userIds = sessions.flatMap(({ userId }) => userId ?? []);
  const names = sessions.flatMap(({ settings }) => Object.keys(mappingIn(settings).groupMappings));
  const isAny = userIds.length > 0 && names.length > 0;
  const provisioned = isAny ? await groupsOfUsers(db, tenant, userIds, names) : undefined;
  return sessions.map(({ userId, groups, settings }) => {
    const mapping = mappingIn(settings);
    const known = provisioned?.get(userId ?? '') ?? [];
    const mapped = known.filter((name) => Object.hasOwn(mapping.groupMappings, name));
    const all = [...new Set([...groups, ...mapped])];
    return { groups: all, mappedScopes: mappedScopes(mapping, all) };
  });
}

const mappingIn = (settings: unknown): SsoMembers => Object(settings); // stored by this service

export async function rightsOfOne(db: Executor, tenant: Tenant, session: Grouped): Promise<Rights> {
  const [rights] = await rightsOf(db, tenant, [session]);
  return rights ?? { groups: [], mappedScopes: [] };
}
