import type { Caller } from '../../../platform/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { shownCertificates } from './certificates.rules.ts';
import type { SsoDeps } from './deps.ts';
import { membersOf } from './secrets.ts';
import { type ConnectionRow, findConnection, listConnectionRows } from './sso.repo.ts';
import type { SsoConnection, SsoConnectionPage, SsoConnectionQuery } from './sso.schema.ts';

export async function listConnections(
  { db }: Pick<SsoDeps, 'db'>,
  { tenant }: Caller,
  query: SsoConnectionQuery,
): Promise<SsoConnectionPage> {
  const { page, nextCursor } = pageOf(await listConnectionRows(db, tenant, query), byId, toConnection);
  return { connections: page, nextCursor };
}

/** @throws NOT_FOUND */
export async function getConnection(
  { db }: Pick<SsoDeps, 'db'>,
  { tenant }: Caller,
  id: string,
): Promise<SsoConnection> {
  const row = await findConnection(db, tenant, id);
  if (!row) throw notFound();
  return toConnection(row);
}

/** A connection as its developer sees it, without its secret. */
export function toConnection(row: ConnectionRow): SsoConnection {
  const { idpCertificates, redirectUris, groupMappings, ldapGroupSearchBase, ...members } = membersOf(row);
  const scopesOf = Object.entries(groupMappings).map(([group, scopes]) => [group, [...scopes]]);
  return {
    id: row.id,
    developerId: row.developerId,
    name: row.name,
    protocol: row.protocol,
    status: row.status,
    ...members,
    ...(row.protocol !== 'ldap' && { redirectUris: [...redirectUris] }),
    ...(row.protocol === 'ldap' && { ldapGroupSearchBase: ldapGroupSearchBase ?? null }),
    ...(idpCertificates && { idpCertificates: shownCertificates(idpCertificates) }),
    emailAttribute: members.emailAttribute ?? null,
    nameAttribute: members.nameAttribute ?? null,
    domains: row.domains,
    enforce: row.enforce,
    groupMappings: Object.fromEntries(scopesOf),
    defaultScopes: [...members.defaultScopes],
    consoleAccess: members.consoleAccess ?? false,
    consoleGroupMappings: { ...members.consoleGroupMappings },
    lastTestedAt: row.lastTestedAt?.toISOString() ?? null,
    lastLoginAt: row.lastLoginAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
