import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { groupsOfUsers } from '../scim/scim.queries.ts';
import { mappedScopes, type SsoMembers } from './sso.rules.ts';

/** A session, as far as its groups go, with the settings of its connection. */
export interface Grouped {
  readonly userId: string | null;
  /** The groups that the identity provider named at the login. */
  readonly groups: readonly string[];
  readonly settings: unknown;
}

export interface Rights {
  /** The groups of the login, and then those groups of the directory that the connection maps. */
  readonly groups: string[];
  readonly mappedScopes: string[];
}

/**
 * The groups and scopes that count for some sessions at this time, in their order: an identity provider that takes a
 * person out of a group by SCIM does not wait for the next login, and neither does a mapping that changes.
 */
export async function rightsOf(
  db: Executor,
  tenant: Tenant,
  sessions: readonly Grouped[],
): Promise<readonly Rights[]> {
  const userIds = sessions.flatMap(({ userId }) => userId ?? []);
  const names = sessions.flatMap(({ settings }) => Object.keys(mappingIn(settings).groupMappings));
  const isAny = userIds.length > 0 && names.length > 0;
  const provisioned = isAny ? await groupsOfUsers(db, tenant, userIds, names) : undefined;
  return sessions.map(({ userId, groups, settings }) => {
    const mapping = mappingIn(settings);
    const known = provisioned?.get(userId ?? '') ?? [];
    const mapped = known.filter((name) => Object.hasOwn(mapping.groupMappings, name));
    const all = [...new Set([...groups, ...mapped])];
    return { groups: all, mappedScopes: mappedScopes(mapping, all) };
  });
}

const mappingIn = (settings: unknown): SsoMembers => Object(settings); // stored by this service

export async function rightsOfOne(db: Executor, tenant: Tenant, session: Grouped): Promise<Rights> {
  const [rights] = await rightsOf(db, tenant, [session]);
  return rights ?? { groups: [], mappedScopes: [] };
}
