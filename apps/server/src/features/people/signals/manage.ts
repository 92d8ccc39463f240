import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { hashOf, newSecret } from '../../../platform/ids.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { findSignallingConnection } from '../sso/sso.queries.ts';
import { signalSeals } from './seals.ts';
import { deleteSource, findSource, type SourceRow, writeSource } from './signals.repo.ts';
import type { CreatedSsoSignals, OnSessionRevoked, SetSsoSignals, SsoSignals } from './signals.schema.ts';
import { dropStream, findTransmitter, makeStream, streamOf } from './stream.ts';

export interface SignalDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly upstream: Egress;
  readonly keyRing: KeyRing;
  readonly publicBaseUrl: string;
}

const changed = (connectionId: string) => ({
  type: 'sso.connection.updated' as const,
  data: { connectionId, changed: ['signals'] },
});

/**
 * Names the transmitter whose signals the service takes for a connection. A secret that an administrator entered stays
 * until the source is deleted. A stream that the service makes replaces the one before.
 * @throws NOT_FOUND, BAD_REQUEST, DISCOVERY_FAILED
 */
export async function putSignals(
  deps: SignalDeps,
  caller: Caller,
  connectionId: string,
  input: SetSsoSignals,
): Promise<CreatedSsoSignals> {
  const { tenant } = caller;
  const { auth, delivery = 'push' } = input;
  if (delivery === 'poll' && !auth) throw badField('auth', 'required');
  const connection = await findSignallingConnection(deps.db, tenant, connectionId);
  if (!connection) throw notFound();
  const transmitter = input.transmitter ?? connection.issuer;
  if (transmitter === undefined) throw badField('transmitter', 'required');
  const found = await findTransmitter(deps.upstream, transmitter);
  const endpointUrl = endpointOf(deps, connectionId);
  const authorizationHeader = `Bearer bh_ssfi_${newSecret()}`;
  const made = auth && (await makeStream(deps, found, { auth, delivery, endpointUrl, authorizationHeader }));
  const at = deps.clock();
  const owner = { ...tenant, connectionId, transmitter };
  const { before, row, isShown } = await inTransaction(deps.db, async (tx) => {
    if (!(await findSignallingConnection(tx, tenant, connectionId))) throw notFound();
    const before = await findSource(tx, tenant, connectionId);
    const keepsSecret = !auth && before?.delivery === 'push' && before.authType === null;
    const row = await writeSource(tx, tenant, {
      ...{ connectionId, transmitter, delivery, jwksUri: found.jwksUri },
      audience: input.audience ?? made?.audience ?? endpointUrl,
      tenant: input.tenant ?? null,
      requiresHeader: input.requireHeader ?? true,
      onSessionRevoked: input.onSessionRevoked ?? 'idp',
      secretHash: keepsSecret ? before.secretHash : hashOf(authorizationHeader),
      ...(auth ? signalSeals(deps.keyRing).seal(auth, owner) : { auth: null, sealKeyId: null }),
      authType: auth?.type ?? null,
      stream: made ? JSON.stringify(made.stream) : null,
      pollDueAt: delivery === 'poll' ? at : null,
      checkDueAt: made?.stream.verificationEndpoint ? at : null,
      ...{ verificationState: null, verificationAskedAt: null, verifiedAt: null, silentSince: null },
      ...{ pollFailures: 0, lastError: null, createdAt: at, updatedAt: at },
    });
    await recordActs(tx, caller, [changed(connectionId)], at);
    return { before, row, isShown: !auth && !keepsSecret };
  });
  await dropStreamOf(deps, before);
  return { ...shown(deps, row), ...(isShown && { authorizationHeader }) };
}

/** Deletes the stream that the service made for a source which is no more. */
async function dropStreamOf(deps: SignalDeps, row: SourceRow | undefined): Promise<void> {
  const stream = row && streamOf(row);
  const auth = row && signalSeals(deps.keyRing).open(row);
  if (stream && auth) await dropStream(deps, stream, auth);
}

/** @throws NOT_FOUND */
export async function getSignals(
  deps: SignalDeps,
  { tenant }: Caller,
  connectionId: string,
): Promise<SsoSignals> {
  const row = await findSource(deps.db, tenant, connectionId);
  if (!row) throw await noSource(deps.db, tenant, connectionId);
  return shown(deps, row);
}

/** @throws NOT_FOUND */
export async function deleteSignals(deps: SignalDeps, caller: Caller, connectionId: string): Promise<void> {
  const at = deps.clock();
  const deleted = await inTransaction(deps.db, async (tx) => {
    const row = await deleteSource(tx, caller.tenant, connectionId);
    if (!row) throw await noSource(tx, caller.tenant, connectionId);
    await recordActs(tx, caller, [changed(connectionId)], at);
    return row;
  });
  await dropStreamOf(deps, deleted);
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

function shown(deps: SignalDeps, row: SourceRow): SsoSignals {
  return {
    connectionId: row.connectionId,
    transmitter: row.transmitter,
    delivery: row.delivery as SsoSignals['delivery'], // stored by `putSignals`
    audience: row.audience,
    endpointUrl: endpointOf(deps, row.connectionId),
    requireHeader: row.requiresHeader,
    onSessionRevoked: onSessionRevokedOf(row),
    tenant: row.tenant,
    authType: row.authType as SsoSignals['authType'], // stored by `putSignals`
    streamId: streamOf(row)?.id ?? null,
    lastPolledAt: row.lastPolledAt?.toISOString() ?? null,
    lastError: row.lastError,
    lastSignalAt: row.lastSignalAt?.toISOString() ?? null,
    silentSince: row.silentSince?.toISOString() ?? null,
    verifiedAt: row.verifiedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
