import type { PrincipalSession } from '../../../platform/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { disconnect, listConnections } from '../credentials/index.ts';
import { personOf } from './ask.ts';
import type { OwnConnectionPage, OwnQuery } from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';

/** @throws UNAUTHORIZED when the session has ended */
export async function listOwnConnections(
  deps: ConnectDeps,
  session: PrincipalSession,
  query: OwnQuery,
): Promise<OwnConnectionPage> {
  const caller = await personOf(deps, session);
  const rows = await listConnections(deps.db, caller, session.principalId, query);
  const { page, nextCursor } = pageOf(rows, byId, (row) => ({
    id: row.id,
    service: row.service,
    providerName: row.providerName,
    account: row.connection.account,
    scopesGranted: row.connection.scopesGranted,
    status: row.connection.status,
    reason: row.connection.reason,
    connectedAt: row.connection.connectedAt,
    lastExchangedAt: row.lastExchangedAt?.toISOString() ?? null,
  }));
  return { connections: page, nextCursor };
}

/** @throws UNAUTHORIZED when the session has ended, NOT_FOUND for a connection of another principal */
export async function disconnectOwn(deps: ConnectDeps, session: PrincipalSession, id: string): Promise<void> {
  const caller = await personOf(deps, session);
  if (!(await disconnect(deps, caller, { id, principalId: session.principalId }))) throw notFound();
}
