import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type { SsoConnections } from '../../../platform/db/types.gen.ts';
import type { SsoConnectionQuery } from './sso.schema.ts';

export type ConnectionRow = Selectable<SsoConnections>;

/** One domain, one connection. */
export const DOMAIN_KEY = 'sso_connection_domains_pkey';
export function insertConnection(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<SsoConnections>, 'developerId' | 'version'>,
): Promise<ConnectionRow> {
  return tx
    .insertInto('ssoConnections')
    .values({ ...row, developerId, version: 1 })
    .returningAll()
    .executeTakeFirstOrThrow();
}

const connectionsOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('ssoConnections').selectAll().where('developerId', '=', developerId);

export const findConnection = (
  db: Executor,
  tenant: Tenant,
  id: string,
): Promise<ConnectionRow | undefined> => connectionsOf(db, tenant).where('id', '=', id).executeTakeFirst();

export const lockConnection = (
  tx: Tx,
  { developerId }: Tenant,
  id: string,
): Promise<ConnectionRow | undefined> =>
  tx
    .selectFrom('ssoConnections')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

export const findDefault = (db: Executor, tenant: Tenant): Promise<ConnectionRow | undefined> =>
  connectionsOf(db, tenant).where('isDefault', '=', true).executeTakeFirst();

export const lockActive = (tx: Tx, { developerId }: Tenant): Promise<ConnectionRow[]> =>
  tx
    .selectFrom('ssoConnections')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('status', '=', 'active')
    .orderBy('id')
    .forUpdate()
    .execute();

/** Two are enough to see that there are several. */
export const findTwoActive = (db: Executor, tenant: Tenant): Promise<ConnectionRow[]> =>
  connectionsOf(db, tenant).where('status', '=', 'active').orderBy('id').limit(2).execute();

export const findTwoWithoutDomains = (db: Executor, tenant: Tenant): Promise<ConnectionRow[]> =>
  connectionsOf(db, tenant)
    .where('status', '=', 'active')
    .where('domains', '=', sql<string[]>`'{}'`)
    .limit(2)
    .execute();

export const findOfDomain = (
  db: Executor,
  tenant: Tenant,
  domain: string,
): Promise<ConnectionRow | undefined> =>
  connectionsOf(db, tenant)
    .where('status', '=', 'active')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('ssoConnectionDomains as listed')
          .select('listed.domain')
          .where('listed.developerId', '=', tenant.developerId)
          .where('listed.domain', '=', domain)
          .whereRef('listed.connectionId', '=', 'ssoConnections.id'),
      ),
    )
    .executeTakeFirst();

/** Oldest first: ids begin with the time. */
export function listConnectionRows(db: Executor, tenant: Tenant, { cursor, limit }: SsoConnectionQuery) {
  const all = connectionsOf(db, tenant);
  const page = cursor ? all.where('id', '>', cursor) : all;
  return readPage(db, page.orderBy('id'), limit);
}

/** @param change members that a login under way has to notice */
export function updateConnection(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<SsoConnections>,
): Promise<ConnectionRow> {
  return tx
    .updateTable('ssoConnections')
    .set({ ...change, version: sql<number>`version + 1` })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Notes a success, which concerns no login under way. */
export async function noteSuccess(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  success: { readonly lastTestedAt: Date } | { readonly lastLoginAt: Date },
): Promise<void> {
  await tx
    .updateTable('ssoConnections')
    .set(success)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

export async function deleteConnectionRow(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx.deleteFrom('ssoConnections').where('developerId', '=', developerId).where('id', '=', id).execute();
}

/** Replaces the domains that lead to a connection. An inactive one has none. */
export async function writeDomains(
  tx: Tx,
  { developerId }: Tenant,
  connectionId: string,
  domains: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom('ssoConnectionDomains')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .execute();
  if (domains.length === 0) return;
  const rows = domains.map((domain) => ({ developerId, domain, connectionId }));
  await tx.insertInto('ssoConnectionDomains').values(rows).execute();
}

/** Metadata of a service provider are asked for by an id alone. */
export function findConnectionAcrossTenants(db: Executor, id: string): Promise<ConnectionRow | undefined> {
  return db.selectFrom('ssoConnections').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Erases rows of a closed account. */
export const eraseSso = eraserOf(
  'sso_assertions',
  'sso_sessions',
  'sso_identities',
  'sso_connection_domains',
  'sso_connections',
);

export const tellSignOns = exportOf('sso_session', 'sso_sessions', [
  ...[
    'connection_id',
    'user_id',
    'subject',
    'email',
    'name',
    'groups',
    'mapped_scopes',
    'created_at',
    'expires_at',
  ],
]);

/** The first key id after another that seals a connection's secret, by one probe of the index. */
export async function nextConnectionKeyAcrossTenants(
  db: Executor,
  after: string,
): Promise<string | undefined> {
  const next = await db
    .selectFrom('ssoConnections')
    .select('keyId')
    .where('keyId', '>', after)
    .orderBy('keyId')
    .limit(1)
    .executeTakeFirst();
  return next?.keyId ?? undefined;
}

/** Connections whose secrets a key seals, after a position in the order of their ids. */
export function listConnectionsUnderAcrossTenants(
  db: Executor,
  keyId: string,
  after: Pick<ConnectionRow, 'developerId' | 'id'>,
  limit: number,
): Promise<ConnectionRow[]> {
  return db
    .selectFrom('ssoConnections')
    .selectAll()
    .where('keyId', '=', keyId)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('developerId', 'id'), '>', tuple(after.developerId, after.id)),
    )
    .orderBy('developerId')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Replaces the data key, which concerns no login under way.
 * @returns whether the data key was still the one that was read
 */
export async function replaceConnectionKey(
  tx: Tx,
  { developerId }: Tenant,
  { id, dataKey }: Pick<ConnectionRow, 'id' | 'dataKey'>,
  next: { readonly dataKey: string; readonly keyId: string },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('ssoConnections')
    .set(next)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('dataKey', '=', dataKey)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
