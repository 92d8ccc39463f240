import type { Caller } from '../../../platform/caller.ts';
import { AppError, scimRefusal } from '../../../platform/errors.ts';
import { isSameName, userType } from './attributes.rules.ts';
import { parseFilter } from './filter.rules.ts';
import { listGroups } from './groups.ts';
import { isBlank, readSearch } from './search.rules.ts';
import { listResponse } from './users.rules.ts';
import { type DirectoryDeps, listUsers } from './users.show.ts';

type List = typeof listUsers;
type Listed = Pick<Awaited<ReturnType<List>>, 'totalResults' | 'Resources'>;

const PAGING = ['startIndex', 'count', 'cursor', 'sortBy', 'sortOrder'];
const NONE: Listed = { totalResults: 0, Resources: [] };

/**
 * Lists people and then groups, as one list with pages by index. When a kind lacks an attribute of the filter, none of
 * its resources match (RFC 7644 §3.4.2.1). People and groups share no sort order, so the service ignores `sortBy`.
 * @throws invalidFilter, invalidValue, invalidCursor
 */
export async function searchAll(deps: DirectoryDeps, caller: Caller, body: object) {
  const members = Object.entries(body);
  const given = (wanted: string) => members.find(([name]) => isSameName(name, wanted))?.[1];
  if (given('cursor') !== undefined) {
    throw scimRefusal('invalidCursor', 'A search over all kinds of resources is paged by `startIndex`.');
  }
  const pages = { startIndex: given('startIndex'), count: given('count') };
  const { startIndex = 1, count } = readSearch(userType, pages);
  const filter = isBlank(given('filter')) ? undefined : given('filter');
  if (typeof filter === 'string') parseFilter(filter); // a malformed filter is no kind's
  const rest = Object.fromEntries(members.filter(([name]) => !PAGING.some((its) => isSameName(name, its))));

  const users = await listed(listUsers, { startIndex, count });
  const shown = users instanceof AppError ? NONE : users;
  const left = {
    startIndex: Math.max(startIndex - shown.totalResults, 1),
    count: count - shown.Resources.length,
  };
  const groups = await listed(listGroups, left);
  if (users instanceof AppError && groups instanceof AppError) throw users;
  const others = groups instanceof AppError ? NONE : groups;
  return listResponse({
    total: shown.totalResults + others.totalResults,
    resources: [...shown.Resources, ...others.Resources],
    startIndex,
    nextCursor: undefined,
  });

  /** @returns the refusal of a filter that is not about this kind */
  async function listed(list: List, page: object): Promise<Listed | AppError> {
    try {
      return await list(deps, caller, { ...rest, ...page });
    } catch (error) {
      if (error instanceof AppError && filter !== undefined) return error;
      throw error;
    }
  }
}
