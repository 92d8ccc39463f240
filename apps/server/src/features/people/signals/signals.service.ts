import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import { recordActs } from '../../record/audit/index.ts';
import { findSignallingConnection } from '../sso/sso.signals.queries.ts';
import { findKeys } from './signals.keys.service.ts';
import { deleteSource, findSource, type SourceRow, writeSource } from './signals.repo.ts';
import type { NewSignals, OnSessionRevoked, PutSignals, Signals } from './signals.schema.ts';

export interface SignalDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly upstream: Egress;
  readonly publicBaseUrl: string;
}

const changed = (connectionId: string) => ({
  type: 'sso.connection.updated' as const,
  data: { connectionId, changed: ['signals'] },
});

/**
 * Names the transmitter whose signals the service takes for a connection. The secret is made with the source, and stays
 * until the source is deleted.
 * @throws NOT_FOUND, BAD_REQUEST, DISCOVERY_FAILED
 */
export async function putSignals(
  deps: SignalDeps,
  caller: Caller,
  connectionId: string,
  input: NewSignals,
): Promise<PutSignals> {
  const { tenant } = caller;
  const connection = await findSignallingConnection(deps.db, tenant, connectionId);
  if (!connection) throw notFound();
  const transmitter = input.transmitter ?? connection.issuer;
  if (transmitter === undefined) throw badField('transmitter', 'required');
  const jwksUri = await findKeys(deps, transmitter);
  const at = deps.clock();
  const secret = `bh_ssfi_${newSecret()}`;
  return inTransaction(deps.db, async (tx) => {
    if (!(await findSignallingConnection(tx, tenant, connectionId))) throw notFound();
    const isNew = (await findSource(tx, tenant, connectionId)) === undefined;
    const row = await writeSource(tx, tenant, {
      connectionId,
      transmitter,
      jwksUri,
      audience: input.audience ?? endpointOf(deps, connectionId),
      tenant: input.tenant ?? null,
      requiresHeader: input.requireHeader ?? true,
      onSessionRevoked: input.onSessionRevoked ?? 'idp',
      secretHash: hashOf(`Bearer ${secret}`),
      createdAt: at,
      updatedAt: at,
    });
    await recordActs(tx, caller, [changed(connectionId)], at);
    return { ...shown(deps, row), ...(isNew && { authorizationHeader: `Bearer ${secret}` }) };
  });
}

/** @throws NOT_FOUND */
export async function getSignals(
  deps: SignalDeps,
  { tenant }: Caller,
  connectionId: string,
): Promise<Signals> {
  const row = await findSource(deps.db, tenant, connectionId);
  if (!row) throw await noSource(deps.db, tenant, connectionId);
  return shown(deps, row);
}

/** @throws NOT_FOUND */
export function deleteSignals(deps: SignalDeps, caller: Caller, connectionId: string): Promise<void> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const isDeleted = await deleteSource(tx, caller.tenant, connectionId);
    if (!isDeleted) throw await noSource(tx, caller.tenant, connectionId);
    await recordActs(tx, caller, [changed(connectionId)], at);
  });
}

async function noSource(db: Executor, tenant: Tenant, connectionId: string): Promise<AppError> {
  const isKnown = await findSignallingConnection(db, tenant, connectionId);
  return isKnown
    ? new AppError('NOT_FOUND', 'The service takes no signals for this connection.')
    : notFound();
}

const endpointOf = ({ publicBaseUrl }: SignalDeps, connectionId: string) =>
  `${publicBaseUrl}/ssf/receive/${connectionId}`;

export const onSessionRevokedOf = ({ onSessionRevoked }: SourceRow): OnSessionRevoked =>
  onSessionRevoked as OnSessionRevoked; // stored by `putSignals`

function shown(deps: SignalDeps, row: SourceRow): Signals {
  return {
    connectionId: row.connectionId,
    transmitter: row.transmitter,
    delivery: 'push',
    audience: row.audience,
    endpointUrl: endpointOf(deps, row.connectionId),
    requireHeader: row.requiresHeader,
    onSessionRevoked: onSessionRevokedOf(row),
    tenant: row.tenant,
    lastSignalAt: row.lastSignalAt?.toISOString() ?? null,
    verifiedAt: row.verifiedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
