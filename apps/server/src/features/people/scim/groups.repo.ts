import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { ScimGroups } from '../../../platform/db/types.gen.ts';
import { groupType } from './attributes.rules.ts';
import type { Source } from './filter.repo.ts';
import { isWhole, partsOfSearch } from './scim.repo.ts';
import type { Search } from './search.rules.ts';

export type GroupRow = Selectable<ScimGroups>;
export type NewGroupRow = Omit<GroupRow, 'developerId'>;

const membersOfGroup = sql`(select jsonb_agg(jsonb_build_object('value', u.id,
    'display', coalesce(u.display_name, u.user_name), 'type', 'User'))
  from scim_members m join scim_users u on u.developer_id = m.developer_id and u.id = m.user_id
  where m.developer_id = g.developer_id and m.group_id = g.id)`;

const source: Source = {
  columns: {
    id: sql`g.id`,
    displayName: sql`g.display_name`,
    externalId: sql`g.external_id`,
    'meta.resourceType': sql`'Group'::text`,
    'meta.created': sql`g.created_at`,
    'meta.lastModified': sql`g.updated_at`,
    'meta.version': sql`('W/"' || g.version || '"')`,
    meta: sql`g.created_at`,
  },
  arrays: { members: membersOfGroup, schemas: sql`jsonb_build_array(${groupType.core.id}::text)` },
  document: sql`'{}'::jsonb`,
  lookUps: {
    members: (value) => sql`exists (select from scim_members m
      where m.developer_id = g.developer_id and m.group_id = g.id and m.user_id = ${value})`,
  },
};

export interface FoundGroupRow extends GroupRow {
  readonly sortValue: string | null;
}

/** As `searchUsers`. */
export async function searchGroups(db: Executor, { developerId }: Tenant, search: Search) {
  const parts = partsOfSearch(search, source, sql`g.id`);
  const page = sql<FoundGroupRow>`select g.*, ${parts.value} as sort_value from scim_groups g
    where g.developer_id = ${developerId} and ${parts.condition} and ${parts.after}`;
  const bounded = sql<FoundGroupRow>`${parts.inOrder(page)} limit ${search.count + 1} offset ${(search.startIndex ?? 1) - 1}`;
  const rows = search.count === 0 ? [] : (await bounded.execute(db)).rows;
  if (isWhole(search, rows.length)) return { rows, total: rows.length };
  const counted = sql<{ total: string }>`select count(*) as total from scim_groups g
    where g.developer_id = ${developerId} and ${parts.condition}`;
  return { rows, total: Number((await counted.execute(db)).rows[0]?.total) };
}

export function findGroup(db: Executor, { developerId }: Tenant, id: string): Promise<GroupRow | undefined> {
  return db
    .selectFrom('scimGroups')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Another group that has the name or the identifier. The caller holds `lockPeople`. */
export async function findSameGroup(
  tx: Tx,
  { developerId }: Tenant,
  { id, displayName, externalId }: Pick<GroupRow, 'id' | 'displayName' | 'externalId'>,
): Promise<string | undefined> {
  const named = sql<{
    id: string;
  }>`select id from scim_groups where developer_id = ${developerId} and id <> ${id}
    and lower(display_name) = lower(${displayName}::text)
    union all
    select id from scim_groups where developer_id = ${developerId} and id <> ${id}
      and external_id = ${externalId}::text
    limit 1`;
  return (await named.execute(tx)).rows[0]?.id;
}

export async function insertGroup(tx: Tx, { developerId }: Tenant, row: NewGroupRow): Promise<void> {
  await tx
    .insertInto('scimGroups')
    .values({ ...row, developerId })
    .execute();
}

export async function updateGroup(
  tx: Tx,
  { developerId }: Tenant,
  { id, ...row }: NewGroupRow,
): Promise<void> {
  await tx
    .updateTable('scimGroups')
    .set(row)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

export async function deleteGroupRow(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx.deleteFrom('scimGroups').where('developerId', '=', developerId).where('id', '=', id).execute();
}

export interface MemberRow {
  readonly groupId: string;
  readonly userId: string;
  readonly display: string;
}

/** The members of some groups. */
export async function listMembers(
  db: Executor,
  { developerId }: Tenant,
  groupIds: readonly string[],
): Promise<MemberRow[]> {
  const asked = sql<MemberRow>`select m.group_id, m.user_id, coalesce(u.display_name, u.user_name) as display
    from scim_members m join scim_users u on u.developer_id = ${developerId} and u.id = m.user_id
    where m.developer_id = ${developerId} and m.group_id = any(${[...groupIds]}::text[])
    order by m.group_id, m.user_id`;
  return (await asked.execute(db)).rows;
}

/** @returns how many of these are users of the developer */
export async function addMembers(
  tx: Tx,
  { developerId }: Tenant,
  groupId: string,
  userIds: readonly string[],
): Promise<number> {
  const added = sql`insert into scim_members (developer_id, group_id, user_id)
    select ${developerId}, ${groupId}, u.id from scim_users u
    where u.developer_id = ${developerId} and u.id = any(${[...userIds]}::text[]) returning user_id`;
  return (await added.execute(tx)).rows.length;
}

export async function removeMembers(
  tx: Tx,
  { developerId }: Tenant,
  groupId: string,
  userIds: readonly string[],
): Promise<void> {
  await sql`delete from scim_members where developer_id = ${developerId} and group_id = ${groupId}
    and user_id = any(${[...userIds]}::text[])`.execute(tx);
}

/** The groups of a user who goes, or whose name among the members changes, are other versions. */
export async function touchGroupsOf(
  tx: Tx,
  { developerId }: Tenant,
  userId: string,
  at: Date,
): Promise<void> {
  await sql`update scim_groups g set version = g.version + 1, updated_at = ${at} from scim_members m
    where g.developer_id = ${developerId} and m.developer_id = ${developerId} and m.group_id = g.id
      and m.user_id = ${userId}`.execute(tx);
}

/** Takes a user out of every group, whose versions change. */
export async function leaveGroups(tx: Tx, tenant: Tenant, userId: string, at: Date): Promise<void> {
  await touchGroupsOf(tx, tenant, userId, at);
  await tx
    .deleteFrom('scimMembers')
    .where('developerId', '=', tenant.developerId)
    .where('userId', '=', userId)
    .execute();
}
