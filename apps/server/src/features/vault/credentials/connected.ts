import type { GrantHolder, Tenant } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordActs } from '../../record/audit/index.ts';
import { isConnectable } from '../providers/providers.queries.ts';
import { endConnection } from './connection.repo.ts';
import { endOf, factsOf, obstacleOf, type ReconnectReason } from './connection.rules.ts';
import type { ExchangeableRow } from './exchange.repo.ts';
import { endedAct, type RefreshDeps } from './refresh.ts';

type Deps = Pick<RefreshDeps, 'db' | 'clock'>;

/** The answer for a service at which the principal has no credential. The agent may ask its person to connect one. */
export async function notStored({ db }: Deps, tenant: Tenant, service: string): Promise<AppError> {
  const connectable = await isConnectable(db, tenant, service);
  const details = connectable ? { reason: 'not_connected', connectable } : undefined;
  return new AppError('NOT_FOUND', 'The principal has no credential for this service.', details);
}

/**
 * Looks whether a connected account gives a token still. Its end is recorded once. A credential that was stored by API
 * passes.
 * @param wanted scopes of the upstream that the agent needs
 * @throws REAUTHORIZATION_REQUIRED, of which the agent may tell its person
 */
export async function mustBeConnected(
  deps: Deps,
  holder: GrantHolder,
  { row, service, wanted = [] }: ConnectedUse,
): Promise<void> {
  const now = deps.clock();
  const end = endOf(row, now);
  const isNoted = end !== undefined && (await noteEnd(deps, holder, { row, service }, end));
  const obstacle = obstacleOf(isNoted ? ended(row, end) : row, wanted, now);
  if (!obstacle) return;
  const details = { service, providerId: row.providerId, ...obstacle };
  throw new AppError('REAUTHORIZATION_REQUIRED', 'The person has to connect this account again.', details);
}

interface ConnectedUse {
  readonly row: ExchangeableRow;
  readonly service: string;
  readonly wanted?: readonly string[];
}

const ended = (row: ExchangeableRow, reason: ReconnectReason): ExchangeableRow => ({
  ...row,
  connectionStatus: 'reauthorization_required',
  connectionReason: reason,
});

/** Records that the upstream refused an access token which it had just given. */
export async function noteRefusedByUpstream(deps: Deps, holder: GrantHolder, use: ConnectedUse) {
  if (factsOf(use.row)) await noteEnd(deps, holder, use, 'upstream_refused');
}

/** @returns false when the credential was changed meanwhile: it has to be read again */
function noteEnd(
  { db, clock }: Deps,
  holder: GrantHolder,
  { row, service }: ConnectedUse,
  reason: ReconnectReason,
): Promise<boolean> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const change = { connectionReason: reason, updatedAt: at };
    if (!(await endConnection(tx, holder.tenant, row, change))) return false;
    const named = { ...row, service, principalId: holder.principalId };
    await recordActs(tx, holder, [endedAct(named, reason)], at);
    return true;
  });
}
