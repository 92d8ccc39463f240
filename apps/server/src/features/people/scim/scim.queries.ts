import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { ScimUsers } from '../../../platform/db/types.gen.ts';
import { personOf } from './users.rules.ts';

/** A user as other features see one. */
export interface Person {
  readonly userId: string;
  /** The id by which the developer knows the person best. */
  readonly principalId: string;
  readonly isActive: boolean;
}

const usersOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('scimUsers').selectAll().where('developerId', '=', developerId);

const shown = (row: Selectable<ScimUsers> | undefined): Person | undefined => row && personOf(row);

export const personById = async (db: Executor, tenant: Tenant, userId: string) =>
  shown(await usersOf(db, tenant).where('id', '=', userId).executeTakeFirst());

export const personByExternalId = async (db: Executor, tenant: Tenant, externalId: string) =>
  shown(await usersOf(db, tenant).where('externalId', '=', externalId).executeTakeFirst());

export const personByUserName = async (db: Executor, tenant: Tenant, userName: string) =>
  shown(
    await usersOf(db, tenant).where(sql`lower(user_name)`, '=', userName.toLowerCase()).executeTakeFirst(),
  );

/** The user whose primary address this is, if there is one and no second. */
export async function personByAddress(
  db: Executor,
  tenant: Tenant,
  address: string,
): Promise<Person | undefined> {
  const rows = await db
    .selectFrom('scimUsers as user')
    .innerJoin('scimUserEmails as email', (join) =>
      join.onRef('email.developerId', '=', 'user.developerId').onRef('email.userId', '=', 'user.id'),
    )
    .selectAll('user')
    .where('user.developerId', '=', tenant.developerId)
    .where('email.developerId', '=', tenant.developerId)
    .where('email.address', '=', address.toLowerCase())
    .where(
      sql<boolean>`(jsonb_array_length("user".attributes->'emails') = 1 or exists (
        select from jsonb_array_elements("user".attributes->'emails') e
        where lower(e->>'value') = ${address.toLowerCase()} and e->'primary' = 'true'::jsonb))`,
    )
    .limit(2)
    .execute();
  return rows.length === 1 ? shown(rows[0]) : undefined;
}

/** Every address of a user: the name, where it is one, and those that the directory keeps. */
export async function addressesOfUser(
  db: Executor,
  tenant: Tenant,
  { userId }: Pick<Person, 'userId'>,
): Promise<string[]> {
  const row = await usersOf(db, tenant).where('id', '=', userId).executeTakeFirst();
  const { emails } = Object(row?.attributes);
  const kept = (Array.isArray(emails) ? emails : []).map((email: unknown) => String(Object(email).value));
  const name = addressIn(row?.userName ?? '');
  return name === undefined ? kept : [name, ...kept];
}

/** The name of a principal, as the identity provider tells it. */
export async function displayNameOf(
  db: Executor,
  tenant: Tenant,
  principalId: string,
): Promise<string | undefined> {
  const userId = await userOfPrincipal(db, tenant, principalId);
  if (userId === undefined) return undefined;
  const row = await usersOf(db, tenant).where('id', '=', userId).executeTakeFirst();
  const { displayName } = Object(row?.attributes);
  return typeof displayName === 'string' && displayName !== '' ? displayName : undefined;
}

/** The user who stands for a principal id, now or from before. */
export async function userOfPrincipal(
  db: Executor,
  { developerId }: Tenant,
  principalId: string,
): Promise<string | undefined> {
  const asked = sql<{ userId: string | null }>`
    select principal_user(${developerId}, ${principalId}) as user_id`;
  return (await asked.execute(db)).rows[0]?.userId ?? undefined;
}

/** The users who stand for some principal ids, by id. */
export async function usersOfPrincipals(
  db: Executor,
  { developerId }: Tenant,
  principalIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const asked = sql<{ id: string; userId: string | null }>`
    select asked.id, principal_user(${developerId}, asked.id) as user_id
    from unnest(${principalIds}::text[]) as asked (id)`;
  const { rows } = await asked.execute(db);
  return new Map(rows.flatMap(({ id, userId }) => (userId === null ? [] : [[id, userId] as const])));
}

/**
 * Whether an id is in the space of a connection: `<connectionId>|<subject>`. Single sign-on alone makes such ids, for
 * people whom their provider may not name.
 */
export const isOfConnection = (principalId: string): boolean => /^sso_[0-9A-Z]{26}\|/i.test(principalId);

/** The address that a principal id is. The subject in an id of a connection's space is none. */
export const addressIn = (principalId: string): string | undefined =>
  principalId.includes('@') && !isOfConnection(principalId) ? principalId : undefined;

/** The address of a principal, as the identity provider tells it: the primary one, or the only one. */
export async function addressOfPrincipal(
  db: Executor,
  tenant: Tenant,
  principalId: string,
): Promise<string | undefined> {
  const userId = await userOfPrincipal(db, tenant, principalId);
  return userId === undefined ? undefined : addressOfUser(db, tenant, userId);
}

/** As `addressOfPrincipal`, of a user. */
export async function addressOfUser(
  db: Executor,
  tenant: Tenant,
  userId: string,
): Promise<string | undefined> {
  const row = await usersOf(db, tenant).where('id', '=', userId).executeTakeFirst();
  const { emails } = Object(row?.attributes);
  const all: unknown[] = Array.isArray(emails) ? emails : [];
  const chosen =
    all.find((email) => Object(email).primary === true) ?? (all.length === 1 ? all[0] : undefined);
  const { value } = Object(chosen);
  return typeof value === 'string' && value.includes('@') ? value : undefined;
}

/** The names of the groups that the identity provider has put a user into. */
export async function groupsOfUser(db: Executor, { developerId }: Tenant, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('scimMembers as member')
    .innerJoin('scimGroups as group', (join) =>
      join.onRef('group.developerId', '=', 'member.developerId').onRef('group.id', '=', 'member.groupId'),
    )
    .select('group.displayName')
    .where('member.developerId', '=', developerId)
    .where('group.developerId', '=', developerId)
    .where('member.userId', '=', userId)
    .execute();
  return rows.map(({ displayName }) => displayName);
}

/** The groups of some users that have one of these names, in any order of the users; each user's are sorted. */
export async function groupsOfUsers(
  db: Executor,
  { developerId }: Tenant,
  userIds: readonly string[],
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom('scimMembers as member')
    .innerJoin('scimGroups as group', (join) =>
      join.onRef('group.developerId', '=', 'member.developerId').onRef('group.id', '=', 'member.groupId'),
    )
    .select(['member.userId', 'group.displayName'])
    .where('member.developerId', '=', developerId)
    .where('group.developerId', '=', developerId)
    .where('member.userId', 'in', [...new Set(userIds)])
    .where('group.displayName', 'in', [...new Set(names)])
    .orderBy('group.displayName')
    .execute();
  const byUser = Map.groupBy(rows, ({ userId }) => userId);
  return new Map([...byUser].map(([userId, found]) => [userId, found.map(({ displayName }) => displayName)]));
}
