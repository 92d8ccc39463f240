import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { providerOf, type SsoMembers } from './sso.rules.ts';

/** A connection, as far as signals of its provider are concerned. */
export interface SignallingConnection {
  readonly id: string;
  readonly status: 'active' | 'inactive' | 'testing';
  readonly domains: readonly string[];
  readonly enforce: boolean;
  readonly scimManaged: boolean;
  /** The issuer of an OpenID provider, or the entity id of a SAML one. */
  readonly issuer: string | undefined;
  /** As its identities name it. */
  readonly provider: string;
}

export async function findSignallingConnection(
  db: Executor,
  { developerId }: Tenant,
  id: string,
): Promise<SignallingConnection | undefined> {
  const row = await db
    .selectFrom('ssoConnections')
    .select(['id', 'status', 'domains', 'enforce', 'settings'])
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  const members: SsoMembers = Object(row.settings); // stored by this service
  const { issuerUrl, idpEntityId, scimManaged } = members;
  return { ...row, scimManaged, issuer: issuerUrl ?? idpEntityId, provider: providerOf(members) };
}

/** The user who stands for a subject of the provider that a connection has. */
export async function userOfSubject(
  db: Executor,
  { developerId }: Tenant,
  { id, provider }: Pick<SignallingConnection, 'id' | 'provider'>,
  subjects: readonly string[],
): Promise<string | undefined> {
  const row = await db
    .selectFrom('ssoIdentities')
    .select('userId')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', id)
    .where(({ eb, or }) => or([eb('provider', '=', provider), eb('provider', 'is', null)]))
    .where('subject', 'in', subjects)
    .executeTakeFirst();
  return row?.userId;
}

/** The connections at which a user has signed in. */
export async function connectionsOfUser(
  db: Executor,
  { developerId }: Tenant,
  userId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('ssoIdentities')
    .select('connectionId')
    .where('developerId', '=', developerId)
    .where('userId', '=', userId)
    .execute();
  return rows.map(({ connectionId }) => connectionId);
}

/** The user of a live session that the provider names. */
export async function userOfIdpSession(
  db: Executor,
  { developerId }: Tenant,
  connectionId: string,
  idpSession: string,
): Promise<{ readonly userId: string | null } | undefined> {
  return db
    .selectFrom('ssoSessions')
    .select('userId')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('idpSession', '=', idpSession)
    .executeTakeFirst();
}

/** A connection, as far as an administrator enters its values at the provider. */
export async function findSetUpConnection(db: Executor, { developerId }: Tenant, id: string) {
  const row = await db
    .selectFrom('ssoConnections')
    .select(['protocol', 'settings'])
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { spEntityId, spAcsUrl }: SsoMembers = Object(row.settings); // stored by this service
  return { protocol: row.protocol, spEntityId, spAcsUrl };
}
