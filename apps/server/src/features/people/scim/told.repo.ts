import type { TellOfPerson } from '../../../platform/db/personal-records.ts';
import { userOfPrincipal } from './scim.queries.ts';

/** The user of an identity provider for whom a principal id stands. */
export const tellUser: TellOfPerson = async function* (db, tenant, principalId) {
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
