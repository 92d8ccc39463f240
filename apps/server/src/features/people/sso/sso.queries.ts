import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { userOfPrincipal } from '../scim/scim.queries.ts';
import { domainOf, loginPath, type SsoMembers } from './sso.rules.ts';

/** A connection that a principal has to sign in by. */
export interface Enforced {
  readonly connectionId: string;
  /** Where the principal signs in, below the address of the service. */
  readonly loginPath: string;
  /** The scopes of the principal's live session. Undefined without a session. */
  readonly mappedScopes: readonly string[] | undefined;
  /** Whether the principal may approve no other scopes than those. */
  readonly limitsScopes: boolean;
}

/**
 * The connection that is enforced for a principal: one of a linked user, or of the principal's own verified domain.
 * @returns undefined where single sign-on is not enforced
 */
export async function enforcedFor(
  db: Executor,
  tenant: Tenant,
  principalId: string,
  now: Date,
): Promise<Enforced | undefined> {
  const { developerId } = tenant;
  const enforcing = await db
    .selectFrom('ssoConnections')
    .select(['id', 'domains', 'settings'])
    .where('developerId', '=', developerId)
    .where('status', '=', 'active')
    .where('enforce', '=', true)
    .orderBy('id')
    .execute();
  if (enforcing.length === 0) return undefined;
  const userId = (await userOfPrincipal(db, tenant, principalId)) ?? '';
  const identities = await db
    .selectFrom('ssoIdentities')
    .select('connectionId')
    .where('developerId', '=', developerId)
    .where('userId', '=', userId)
    .execute();
  const linked = enforcing.find(({ id }) => identities.some(({ connectionId }) => connectionId === id));
  const domain = domainOf(principalId);
  const listing = enforcing.find(({ domains }) => domains.includes(domain));
  const isOwn = !linked && listing && (await isVerifiedBy(db, tenant, domain));
  const connection = linked ?? (isOwn ? listing : undefined);
  if (!connection) return undefined;
  const session = await db
    .selectFrom('ssoSessions')
    .select('mappedScopes')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connection.id)
    .where('expiresAt', '>', now)
    .where(({ eb, or }) => or([eb('principalId', '=', principalId), eb('userId', '=', userId)]))
    .orderBy('id', 'desc')
    .executeTakeFirst();
  const { groupMappings }: SsoMembers = Object(connection.settings); // stored by this service
  return {
    connectionId: connection.id,
    loginPath: loginPath(developerId, connection.id),
    mappedScopes: session?.mappedScopes,
    limitsScopes: Object.keys(groupMappings).length > 0,
  };
}
