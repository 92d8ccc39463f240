import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { notFound, scimRefusal } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { groupType } from './attributes.rules.ts';
import {
  addMembers,
  deleteGroupRow,
  findGroup,
  findSameGroup,
  type GroupRow,
  insertGroup,
  listMembers,
  type NewGroupRow,
  removeMembers,
  searchGroups,
  updateGroup,
} from './groups.repo.ts';
import { documentOfGroup, type Group, groupIn, type Member, shownGroup } from './groups.rules.ts';
import { patched, readOperations } from './patch.rules.ts';
import { patchWork } from './patch.work.ts';
import { readDocument } from './resource.rules.ts';
import { lockPeople } from './scim.repo.ts';
import { cursorAfter, readSearch } from './search.rules.ts';
import { entityTag, listResponse } from './users.rules.ts';
import type { DirectoryDeps, ScimRequest, ShownResource } from './users.show.ts';
import { isShown, mustBeVersion, readView, type View, viewed } from './view.rules.ts';

/** @throws invalidValue, invalidSyntax, uniqueness, PLAN_LIMIT_EXCEEDED */
export function createGroup(
  deps: DirectoryDeps,
  caller: Caller,
  body: object,
  query: object,
): Promise<ShownResource> {
  const view = readView(groupType, query);
  const group = groupIn(readDocument(groupType, body));

  return inTransaction(deps.db, async (tx) => {
    await lockPeople(tx, caller.tenant);
    const at = deps.clock();
    const known = { id: newId('scimgrp', at), version: 1, createdAt: at, updatedAt: at };
    const row = { ...known, displayName: group.displayName, externalId: group.externalId };
    await mustBeFree(tx, caller, row);
    await useQuota(tx, deps.quotas, caller, 'scim_groups', at);
    await insertGroup(tx, caller.tenant, row);
    await changeMembers(tx, caller, row.id, [], group.memberIds);
    await recordActs(tx, caller, [{ type: 'scim.group.created', data: dataOf(row) }], at);
    return see(deps, tx, caller, row, view);
  });
}

/** @throws NOT_FOUND */
export async function getGroup(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  query: object,
): Promise<ShownResource> {
  const view = readView(groupType, query);
  const row = await findGroup(deps.db, caller.tenant, id);
  if (!row) throw notFound();
  return see(deps, deps.db, caller, row, view);
}

/** @throws invalidFilter, invalidValue, invalidCursor */
export async function listGroups(deps: DirectoryDeps, caller: Caller, query: object) {
  const [view, search] = [readView(groupType, query), readSearch(groupType, query)];
  const { rows, total } = await searchGroups(deps.db, caller.tenant, search);
  const page = rows.slice(0, search.count);
  const ids = page.map(({ id }) => id);
  const isWanted = isShown(view, 'members') && ids.length > 0;
  const members = isWanted ? await listMembers(deps.db, caller.tenant, ids) : [];
  const byGroup = Map.groupBy(members, ({ groupId }) => groupId);
  const resources = page.map((row) => seen(deps, row, byGroup.get(row.id) ?? [], view).resource);
  return listResponse({
    total,
    resources,
    startIndex: search.startIndex,
    nextCursor: cursorAfter(search, rows),
  });
}

/** @throws NOT_FOUND, PRECONDITION_FAILED, invalidValue, uniqueness */
export function replaceGroup(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  body: object,
  asked: ScimRequest,
): Promise<ShownResource> {
  const group = groupIn(readDocument(groupType, body));
  return changeGroup(deps, caller, id, asked, async () => group);
}

/** @throws NOT_FOUND, PRECONDITION_FAILED, invalidPath, noTarget, mutability, invalidValue, uniqueness */
export function patchGroup(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  body: object,
  asked: ScimRequest,
): Promise<ShownResource> {
  const operations = readOperations(body);
  const subject = { type: groupType, id, work: asked.work ?? patchWork() };
  return changeGroup(deps, caller, id, asked, async (before) => {
    await subject.work.spend(before.memberIds.length);
    return groupIn(await patched(subject, documentOfGroup(before), operations));
  });
}

function changeGroup(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  { query, ifMatch }: ScimRequest,
  change: (before: Group) => Promise<Group>,
): Promise<ShownResource> {
  const view = readView(groupType, query);
  return inTransaction(deps.db, async (tx) => {
    const before = await lockGroup(tx, caller, id, ifMatch);
    const at = deps.clock();
    const memberIds = (await listMembers(tx, caller.tenant, [id])).map(({ userId }) => userId);
    const was: Group = {
      displayName: before.displayName,
      externalId: before.externalId,
      memberIds: memberIds.sort(),
    };
    const group = await change(was);
    if (isDeepStrictEqual(group, was)) return see(deps, tx, caller, before, view);

    const { displayName, externalId } = group;
    const version = before.version + 1;
    const row = { id, version, createdAt: before.createdAt, updatedAt: at, displayName, externalId };
    await mustBeFree(tx, caller, row);
    await updateGroup(tx, caller.tenant, row);
    await changeMembers(tx, caller, id, was.memberIds, group.memberIds);
    await recordActs(tx, caller, [{ type: 'scim.group.updated', data: dataOf(row) }], at);
    return see(deps, tx, caller, row, view);
  });
}

/** @throws NOT_FOUND, PRECONDITION_FAILED */
export function deleteGroup(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  { ifMatch }: ScimRequest,
): Promise<void> {
  return inTransaction(deps.db, async (tx) => {
    const row = await lockGroup(tx, caller, id, ifMatch);
    await deleteGroupRow(tx, caller.tenant, id);
    await freeQuota(tx, caller, 'scim_groups', 1);
    await recordActs(tx, caller, [{ type: 'scim.group.deleted', data: dataOf(row) }], deps.clock());
  });
}

/** @throws NOT_FOUND, PRECONDITION_FAILED */
async function lockGroup(tx: Tx, caller: Caller, id: string, ifMatch: string | undefined): Promise<GroupRow> {
  await lockPeople(tx, caller.tenant);
  const row = await findGroup(tx, caller.tenant, id);
  if (!row) throw notFound();
  mustBeVersion(ifMatch, entityTag(row.version));
  return row;
}

/** @throws uniqueness */
async function mustBeFree(tx: Tx, { tenant }: Caller, row: NewGroupRow): Promise<void> {
  const same = await findSameGroup(tx, tenant, row);
  if (same === undefined) return;
  throw scimRefusal('uniqueness', `The group \`${same}\` has this \`displayName\` or \`externalId\`.`);
}

/** @throws invalidValue for a member that is no user of the developer */
async function changeMembers(
  tx: Tx,
  { tenant }: Caller,
  groupId: string,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const [had, has] = [new Set(before), new Set(after)];
  const gone = before.filter((id) => !has.has(id));
  const added = after.filter((id) => !had.has(id));
  if (gone.length > 0) await removeMembers(tx, tenant, groupId, gone);
  if (added.length > 0 && (await addMembers(tx, tenant, groupId, added)) !== added.length) {
    throw scimRefusal('invalidValue', 'A member is not the id of a user.');
  }
}

const dataOf = ({ id, displayName, externalId }: Pick<GroupRow, 'id' | 'displayName' | 'externalId'>) => ({
  groupId: id,
  displayName,
  ...(externalId !== null && { externalId }),
});

async function see(
  deps: DirectoryDeps,
  db: DirectoryDeps['db'],
  { tenant }: Caller,
  row: NewGroupRow,
  view: View,
) {
  const members = isShown(view, 'members') ? await listMembers(db, tenant, [row.id]) : [];
  return seen(deps, row, members, view);
}

function seen(
  { publicBaseUrl }: DirectoryDeps,
  row: NewGroupRow,
  members: readonly Member[],
  view: View,
): ShownResource {
  const base = `${publicBaseUrl}/scim/v2`;
  const shown = shownGroup(row, isShown(view, 'members') ? members : undefined, base);
  return { resource: viewed(shown, view), location: `${base}/Groups/${row.id}`, tag: entityTag(row.version) };
}
