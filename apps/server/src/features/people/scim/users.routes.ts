import { resourceRoutes } from './resources.routes.ts';
import { getUser, listUsers } from './users.show.ts';
import { createUser, deleteUser, patchUser, replaceUser } from './users.ts';

export const scimUserRoutes = resourceRoutes({
  type: 'User',
  summaries: {
    create: 'Provision a person',
    list: 'List the people that pass a filter',
    search: 'List the people that pass a filter, which is in the body',
    get: 'Read a person',
    replace: 'Replace a person',
    change: 'Change attributes of a person',
    delete: 'Delete a person, and end everything that agents hold of them',
  },
  create: createUser,
  list: listUsers,
  get: getUser,
  replace: replaceUser,
  patch: patchUser,
  remove: deleteUser,
});
