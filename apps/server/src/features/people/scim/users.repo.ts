import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { hotCall, type Records } from '../../../platform/db/hot-writes.ts';
import type { ExportOfPerson } from '../../../platform/db/personal-data.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';
import type { ScimUsers } from '../../../platform/db/types.gen.ts';
import { userType } from './attributes.rules.ts';
import type { Source } from './filter.repo.ts';
import type { PrincipalValue } from './principals.repo.ts';
import { userOfPrincipal } from './scim.queries.ts';
import { isWhole, partsOfSearch } from './scim.repo.ts';
import type { Search } from './search.rules.ts';

export type UserRow = Selectable<ScimUsers>;
export type NewUserRow = Omit<UserRow, 'developerId' | 'attributes'> & { readonly attributes: string };

const groupsOfUser = sql`(select jsonb_agg(jsonb_build_object('value', g.id, 'display', g.display_name, 'type', 'direct'))
  from scim_members m join scim_groups g on g.developer_id = m.developer_id and g.id = m.group_id
  where m.developer_id = u.developer_id and m.user_id = u.id)`;

/** The core schema, and each extension that the document has. */
const schemasOfUser = sql`(jsonb_build_array(${userType.core.id}::text) || (
  select coalesce(jsonb_agg(key), '[]') from jsonb_object_keys(u.attributes) as key where key like 'urn:%'))`;

const source: Source = {
  columns: {
    id: sql`u.id`,
    userName: sql`u.user_name`,
    externalId: sql`u.external_id`,
    displayName: sql`u.display_name`,
    active: sql`u.active`,
    'meta.resourceType': sql`'User'::text`,
    'meta.created': sql`u.created_at`,
    'meta.lastModified': sql`u.updated_at`,
    'meta.version': sql`('W/"' || u.version || '"')`,
    meta: sql`u.created_at`,
  },
  arrays: { groups: groupsOfUser, schemas: schemasOfUser },
  document: sql`u.attributes`,
  lookUps: {
    emails: (value) => sql`exists (select from scim_user_emails a
      where a.developer_id = u.developer_id and a.user_id = u.id and a.address = lower(${value}::text))`,
    groups: (value) => sql`exists (select from scim_members m
      where m.developer_id = u.developer_id and m.user_id = u.id and m.group_id = ${value})`,
  },
};

export interface FoundRow extends UserRow {
  readonly sortValue: string | null;
}

const NAMED = `select developer_id as "developerId", id, user_name as "userName", external_id as "externalId",
    display_name as "displayName", active, attributes, version, disabled_by as "disabledBy",
    created_at as "createdAt", updated_at as "updatedAt", null::text as "sortValue"
  from scim_users where developer_id = $1`;
type Named = [developerId: string, name: string];

/** The questions that identity providers ask before each write, by the attribute that they name. */
const namedBy: Readonly<Record<string, (db: Executor, ...values: Named) => Promise<FoundRow[]>>> = {
  userName: lookUp<FoundRow, Named>('scim_user_named', `${NAMED} and lower(user_name) = lower($2)`),
  externalId: lookUp<FoundRow, Named>('scim_user_of_external_id', `${NAMED} and external_id = $2`),
};

/** A page of users, with one row more than it holds when the list goes on, and how many users pass in all. */
export async function searchUsers(db: Executor, { developerId }: Tenant, search: Search) {
  const { filter } = search;
  const find = filter?.kind === 'test' && filter.op === 'eq' ? namedBy[filter.path.join('.')] : undefined;
  if (find && filter?.kind === 'test' && search.count > 0 && search.startIndex === 1) {
    const rows = await find(db, developerId, String(filter.value));
    return { rows, total: rows.length };
  }
  const parts = partsOfSearch(search, source, sql`u.id`);
  const page = sql<FoundRow>`select u.*, ${parts.value} as sort_value from scim_users u
    where u.developer_id = ${developerId} and ${parts.condition} and ${parts.after}`;
  const bounded = sql<FoundRow>`${parts.inOrder(page)} limit ${search.count + 1} offset ${(search.startIndex ?? 1) - 1}`;
  const rows = search.count === 0 ? [] : (await bounded.execute(db)).rows;
  if (isWhole(search, rows.length)) return { rows, total: rows.length };
  const counted = sql<{ total: string }>`select count(*) as total from scim_users u
    where u.developer_id = ${developerId} and ${parts.condition}`;
  return { rows, total: Number((await counted.execute(db)).rows[0]?.total) };
}

export function findUser(db: Executor, { developerId }: Tenant, id: string): Promise<UserRow | undefined> {
  return db
    .selectFrom('scimUsers')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** The texts by which a user is found. */
interface FoundBy {
  readonly addresses: readonly string[];
  readonly ids: readonly PrincipalValue[];
  /** The most people of the plan; null where there is none. */
  readonly limit: number | null;
}

type NewUser = Omit<UserRow, 'developerId' | 'attributes'> & { readonly attributes: object };

/** Why a user is not added: another has one of the ids, the plan is full, or the person was offboarded. */
export type UserRefusal = 'taken' | 'over_quota' | 'closed';

/** Adds a user, in a turn of its own. A hot write, which records the act. */
export async function writeUser(
  db: Executor,
  tenant: Tenant,
  user: NewUser,
  found: FoundBy,
  records: Records,
): Promise<UserRefusal | null> {
  const fact = hotCall('add_scim_user', valuesOf(user, found));
  // All groups lock the directory before anything else.
  return records.writeUnlessRefused<UserRefusal>(db, {
    tenant,
    at: user.createdAt,
    fact,
    turn: 'a directory',
  });
}

const adding = statement<
  { readonly refusal: UserRefusal | null },
  [developerId: string, at: Date, write: string]
>('add_scim_user', 'select w.refusal from add_scim_user($1, $2, $3::jsonb) as w (refusal)');

/** As `writeUser`, in a transaction of the caller, who records the act. */
export async function insertUser(
  tx: Tx,
  { developerId }: Tenant,
  user: NewUser,
  found: FoundBy,
): Promise<UserRefusal | null> {
  const [made] = await adding(tx, developerId, user.createdAt, JSON.stringify(valuesOf(user, found)));
  return made?.refusal ?? null;
}

const valuesOf = ({ createdAt: at, ...user }: NewUser, { addresses, ids, limit }: FoundBy) => ({
  user: { ...user, at },
  addresses,
  ids,
  limit,
});

export async function updateUser(tx: Tx, { developerId }: Tenant, { id, ...row }: NewUserRow): Promise<void> {
  await tx
    .updateTable('scimUsers')
    .set(row)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** From now on no signal makes the user active again. */
export async function forgetSignal(
  tx: Tx,
  { developerId }: Tenant,
  { id, disabledBy }: Pick<UserRow, 'id' | 'disabledBy'>,
): Promise<void> {
  if (disabledBy === null) return;
  await tx
    .updateTable('scimUsers')
    .set({ disabledBy: null })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

export async function deleteUserRow(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx.deleteFrom('scimUsers').where('developerId', '=', developerId).where('id', '=', id).execute();
}

/** Replaces the addresses by which a user is found. */
export async function writeEmails(
  tx: Tx,
  { developerId }: Tenant,
  userId: string,
  addresses: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom('scimUserEmails')
    .where('developerId', '=', developerId)
    .where('userId', '=', userId)
    .execute();
  if (addresses.length === 0) return;
  await sql`insert into scim_user_emails (developer_id, address, user_id)
    select distinct ${developerId}, lower(a.address), ${userId}
    from unnest(${[...addresses]}::text[]) as a (address)`.execute(tx);
}

export interface GroupOfUser {
  readonly userId: string;
  readonly id: string;
  readonly displayName: string;
}

/** The groups of some users. */
export function listGroupsOfUsers(
  db: Executor,
  { developerId }: Tenant,
  userIds: readonly string[],
): Promise<GroupOfUser[]> {
  return db
    .selectFrom('scimMembers as member')
    .innerJoin('scimGroups as group', (join) =>
      join.onRef('group.developerId', '=', 'member.developerId').onRef('group.id', '=', 'member.groupId'),
    )
    .select(['member.userId', 'group.id', 'group.displayName'])
    .where('member.developerId', '=', developerId)
    .where('member.userId', 'in', userIds)
    .orderBy('group.id')
    .execute();
}

/** The user of an identity provider for whom a principal id stands. */
export const tellUser: ExportOfPerson = async function* (db, tenant, principalId) {
  const id = await userOfPrincipal(db, tenant, principalId);
  if (id === undefined) return;
  const rows = await db
    .selectFrom('scimUsers')
    .select(['id', 'active', 'attributes', 'createdAt', 'updatedAt'])
    .where('developerId', '=', tenant.developerId)
    .where('id', '=', id)
    .execute();
  yield rows.map((row) => ({ type: 'scim_user', ...row }));
};
