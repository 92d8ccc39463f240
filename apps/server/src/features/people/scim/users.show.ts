import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { userType } from './attributes.rules.ts';
import type { OffboardDeps } from './offboard.ts';
import type { PatchWork } from './patch.work.ts';
import { cursorAfter, readSearch } from './search.rules.ts';
import { findUser, listGroupsOfUsers, searchUsers } from './users.repo.ts';
import { entityTag, listResponse, shownUser } from './users.rules.ts';
import { isKnownVersion, isShown, readView, type View, viewed } from './view.rules.ts';

export interface DirectoryDeps extends OffboardDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
  readonly quotas: Quotas;
}

/** A resource as a client sees it, with its entity tag. */
export interface ShownResource {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly location: string;
  readonly tag: string;
}

/** The parts of a request beside its body. */
export interface ScimRequest {
  readonly query: object;
  readonly ifMatch?: string | undefined;
  /** The work that all operations of a request share. */
  readonly work?: PatchWork;
}

/** @throws NOT_FOUND */
export async function getUser(
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  query: object,
): Promise<ShownResource> {
  const view = readView(userType, query);
  const row = await findUser(deps.db, caller.tenant, id);
  if (!row) throw notFound();
  return seen(deps, row, await groupsOf(deps.db, caller, [id], view), view);
}

/** @throws invalidFilter, invalidValue, invalidCursor */
export async function listUsers(deps: DirectoryDeps, caller: Caller, query: object) {
  const [view, search] = [readView(userType, query), readSearch(userType, query)];
  const { rows, total } = await searchUsers(deps.db, caller.tenant, search);
  const page = rows.slice(0, search.count);
  const ids = page.map(({ id }) => id);
  const groups = Map.groupBy(await groupsOf(deps.db, caller, ids, view), ({ userId }) => userId);
  const resources = page.map((row) => seen(deps, row, groups.get(row.id) ?? [], view).resource);
  return listResponse({
    total,
    resources,
    startIndex: search.startIndex,
    nextCursor: cursorAfter(search, rows),
  });
}

/** The groups of users, when the view shows them. */
export async function groupsOf(db: Executor, { tenant }: Caller, ids: readonly string[], view: View) {
  return isShown(view, 'groups') && ids.length > 0 ? listGroupsOfUsers(db, tenant, ids) : [];
}

/** A user as a client sees it. */
export function seen(
  { publicBaseUrl }: DirectoryDeps,
  row: Parameters<typeof shownUser>[0],
  groups: Parameters<typeof shownUser>[1],
  view: View,
): ShownResource {
  const base = `${publicBaseUrl}/scim/v2`;
  const resource = viewed(shownUser(row, groups, base), view);
  return { resource, location: `${base}/Users/${row.id}`, tag: entityTag(row.version) };
}

/** Whether a client has this version of a resource already. */
export const isKnown = ({ tag }: ShownResource, ifNoneMatch: string | undefined) =>
  isKnownVersion(ifNoneMatch, tag);

export { isLookUp } from './search.rules.ts';
