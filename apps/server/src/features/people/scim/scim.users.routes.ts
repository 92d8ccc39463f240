import { resourceRoutes } from './scim.resources.routes.ts';
import { createUser, deleteUser, patchUser, replaceUser } from './scim.users.service.ts';
import { getUser, listUsers } from './scim.users.show.service.ts';

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
