import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { deleteSessionsNamed, type Named } from './signals.repo.ts';

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
