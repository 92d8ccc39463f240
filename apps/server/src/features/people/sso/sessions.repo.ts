import type { Insertable, Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { SsoSessions } from '../../../platform/db/types.gen.ts';
import type { SsoSessionQuery } from './sso.schema.ts';

export type SessionRow = Selectable<SsoSessions>;

/** Inserts a session, and deletes those of the developer that ran out. */
export async function insertSession(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<SsoSessions>, 'developerId'> & { readonly createdAt: Date },
): Promise<void> {
  await tx
    .with('swept', (also) =>
      also
        .deleteFrom('ssoSessions')
        .where('developerId', '=', developerId)
        .where('expiresAt', '<=', row.createdAt),
    )
    .insertInto('ssoSessions')
    .values({ ...row, developerId })
    .execute();
}

const liveSessions = (db: Executor, { developerId }: Tenant, now: Date) =>
  db
    .selectFrom('ssoSessions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('expiresAt', '>', now);

export const findSession = (
  db: Executor,
  tenant: Tenant,
  id: string,
  now: Date,
): Promise<SessionRow | undefined> => liveSessions(db, tenant, now).where('id', '=', id).executeTakeFirst();

/** Newest first, each with the settings of its connection. */
export function listSessionRows(db: Executor, tenant: Tenant, query: SsoSessionQuery, now: Date) {
  const { cursor, limit, connectionId, principalId } = query;
  let page = db
    .selectFrom('ssoSessions as session')
    .innerJoin('ssoConnections as connection', (join) =>
      join
        .onRef('connection.developerId', '=', 'session.developerId')
        .onRef('connection.id', '=', 'session.connectionId'),
    )
    .selectAll('session')
    .select('connection.settings')
    .where('session.developerId', '=', tenant.developerId)
    .where('connection.developerId', '=', tenant.developerId)
    .where('session.expiresAt', '>', now);
  if (cursor) page = page.where('session.id', '<', cursor);
  if (connectionId) page = page.where('session.connectionId', '=', connectionId);
  if (principalId) page = page.where('session.principalId', '=', principalId);
  return readPage(db, page.orderBy('session.id', 'desc'), limit);
}

const deletion = (tx: Tx, { developerId }: Tenant) =>
  tx.deleteFrom('ssoSessions').where('developerId', '=', developerId);

/** @returns the session that ended, if it was live */
export const deleteSession = (tx: Tx, tenant: Tenant, id: string, now: Date) =>
  deletion(tx, tenant)
    .where('id', '=', id)
    .where('expiresAt', '>', now)
    .returning(['id', 'connectionId', 'principalId'])
    .executeTakeFirst();

/** Ends the sessions of a user, in the order of their ids. */
export async function deleteSessionsOfUser(tx: Tx, tenant: Tenant, userId: string) {
  const ended = await deletion(tx, tenant)
    .where('userId', '=', userId)
    .returning(['id', 'connectionId', 'principalId'])
    .execute();
  return ended.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Ends the sessions that stand for some principals, in the order of their ids. */
export async function deleteSessionsOfPrincipals(tx: Tx, tenant: Tenant, principalIds: readonly string[]) {
  const ended = await deletion(tx, tenant)
    .where('principalId', 'in', principalIds)
    .returning(['id', 'connectionId', 'principalId'])
    .execute();
  return ended.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Ends the sessions of a connection, in the order of their ids. */
export async function deleteSessionsOf(tx: Tx, tenant: Tenant, connectionId: string) {
  const ended = await deletion(tx, tenant)
    .where('connectionId', '=', connectionId)
    .returning(['id', 'connectionId', 'principalId'])
    .execute();
  return ended.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/**
 * Remembers an assertion until it runs out, and forgets those that have.
 * @returns whether nobody has used it before
 */
export async function useAssertion(
  tx: Tx,
  { developerId }: Tenant,
  used: { readonly connectionId: string; readonly assertionId: string; readonly expiresAt: Date },
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .with('swept', (also) =>
      also.deleteFrom('ssoAssertions').where('developerId', '=', developerId).where('expiresAt', '<=', now),
    )
    .insertInto('ssoAssertions')
    .values({ ...used, developerId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** The session that a provider names in its own words, or else the user or subject whose sessions are meant. */
export interface Named {
  readonly idpSession?: string | undefined;
  readonly userId?: string | undefined;
  readonly subject?: string | undefined;
}

/** Ends the sessions of a connection that a provider names, in the order of their ids. */
export async function deleteSessionsNamed(
  tx: Tx,
  { developerId }: Tenant,
  connectionId: string,
  { idpSession, userId, subject }: Named,
) {
  const ofConnection = tx
    .deleteFrom('ssoSessions')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId);
  const named =
    idpSession !== undefined
      ? ofConnection.where('idpSession', '=', idpSession)
      : ofConnection.where(({ eb, or }) =>
          or([
            ...(userId === undefined ? [] : [eb('userId', '=', userId)]),
            ...(subject === undefined ? [] : [eb('subject', '=', subject)]),
          ]),
        );
  const ended = await named.returning(['id', 'principalId', 'userId']).execute();
  return ended.sort((one, other) => (one.id < other.id ? -1 : 1));
}
