import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { OnPrincipalClosed, OnUserLeft } from '../scim/index.ts';
import type { SsoDeps } from './deps.ts';
import { rightsOf } from './sessions.queries.ts';
import {
  deleteSession,
  deleteSessionsNamed,
  deleteSessionsOfPrincipals,
  deleteSessionsOfUser,
  listSessionRows,
  type Named,
  type SessionRow,
} from './sessions.repo.ts';
import type { SsoSession, SsoSessionPage, SsoSessionQuery } from './sso.schema.ts';

type SessionDeps = Pick<SsoDeps, 'db' | 'clock'>;

export async function listSessions(
  { db, clock }: SessionDeps,
  { tenant }: Caller,
  query: SsoSessionQuery,
): Promise<SsoSessionPage> {
  const rows = await listSessionRows(db, tenant, query, clock());
  const { page, nextCursor } = pageOf(rows, byId, (row) => row);
  const rights = await rightsOf(db, tenant, page);
  const sessions = page.map((row, index) => toSession({ ...row, ...rights[index] }));
  return { sessions, nextCursor };
}

/** @throws NOT_FOUND for a session that is over, and for an unknown one alike */
export function revokeSession({ db, clock }: SessionDeps, caller: Caller, id: string): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const ended = await deleteSession(tx, caller.tenant, id, at);
    if (!ended) throw notFound();
    const { connectionId, principalId } = ended;
    const data = { connectionId, sessionId: id, reason: 'developer' };
    const about = principalId === null ? {} : { principalId };
    await recordActs(tx, caller, [{ type: 'sso.session.revoked', ...about, data }], at);
  });
}

/** Ends the sessions of a user who leaves, in the transaction of that. */
export const endSessionsOfUser: OnUserLeft = async (tx, { tenant }, userId) => {
  return (await deleteSessionsOfUser(tx, tenant, userId)).map((ended) => revoked(ended, 'user_left'));
};

/** Ends the sessions of a person who is offboarded, in the transaction of that. */
export const endSessionsOfPrincipals: OnPrincipalClosed = async (tx, { tenant }, principalIds) => {
  const ended = await deleteSessionsOfPrincipals(tx, tenant, principalIds);
  return ended.map((session) => revoked(session, 'principal_offboarded'));
};

type Ended = Awaited<ReturnType<typeof deleteSessionsOfUser>>[number];

const revoked = ({ id, connectionId, principalId }: Ended, reason: string): Act => ({
  type: 'sso.session.revoked',
  ...(principalId !== null && { principalId }),
  data: { connectionId, sessionId: id, reason },
});

const toSession = (row: SessionRow): SsoSession => ({
  id: row.id,
  connectionId: row.connectionId,
  principalId: row.principalId,
  email: row.email,
  name: row.name,
  idpSubject: row.subject,
  groups: row.groups,
  mappedScopes: row.mappedScopes,
  expiresAt: row.expiresAt.toISOString(),
  createdAt: row.createdAt.toISOString(),
});

/** Ends the sessions of a connection that its provider, or an administrator, has named. @returns acts, which the caller records */
export async function endNamedSessions(
  tx: Tx,
  { tenant }: Caller,
  connectionId: string,
  named: Named,
  reason = 'signal',
): Promise<Act[]> {
  const ended = await deleteSessionsNamed(tx, tenant, connectionId, named);
  return ended.map(({ id, principalId }) => ({
    type: 'sso.session.revoked' as const,
    ...(principalId !== null && { principalId }),
    data: { connectionId, sessionId: id, reason },
  }));
}
