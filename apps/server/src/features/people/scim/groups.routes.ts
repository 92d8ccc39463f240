import { createGroup, deleteGroup, getGroup, listGroups, patchGroup, replaceGroup } from './groups.ts';
import { resourceRoutes } from './resources.routes.ts';

export const scimGroupRoutes = resourceRoutes({
  type: 'Group',
  summaries: {
    create: 'Create a group',
    list: 'List the groups that pass a filter',
    search: 'List the groups that pass a filter, which is in the body',
    get: 'Read a group',
    replace: 'Replace a group',
    change: 'Change attributes of a group',
    delete: 'Delete a group',
  },
  create: createGroup,
  list: listGroups,
  get: getGroup,
  replace: replaceGroup,
  patch: patchGroup,
  remove: deleteGroup,
});
