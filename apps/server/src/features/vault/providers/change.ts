import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { currentKey } from '../../../platform/envelope.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordActs } from '../../record/audit/index.ts';
import { clientColumns, clientFor, foundOf, settingsOf } from './client.ts';
import { discover, mustBeCallable } from './discovery.ts';
import type { Found } from './found.rules.ts';
import { failProvider, type ProviderRow, updateProvider } from './providers.repo.ts';
import { changedSettings, isOtherClient } from './providers.rules.ts';
import type { Provider, ProviderChange } from './providers.schema.ts';
import { getProvider, type ProviderDeps, storedProvider, toProvider, withPreset } from './show.ts';

/**
 * Changes a provider, and reads again what its upstream publishes. Another issuer, token endpoint or client drops the
 * secrets of the one before: the same body brings its own.
 * @throws NOT_FOUND, BAD_REQUEST, DISCOVERY_FAILED, CONFLICT, UPSTREAM_ERROR, NOT_CONFIGURED
 */
export async function changeProvider(
  deps: ProviderDeps,
  caller: Caller,
  id: string,
  change: ProviderChange,
): Promise<Provider> {
  const row = await storedProvider(deps, caller.tenant, id);
  const before = settingsOf(row);
  if (before.preset !== null) withPreset({ ...inSettings(change), preset: before.preset });
  const settings = changedSettings(before, change);
  mustBeCallable(deps.upstream, settings);
  currentKey(deps.vault);
  const at = deps.clock();
  const found = await discover(deps.upstream, settings);
  const isOther =
    isOtherClient(before, settings, { before: originOf(foundOf(row)), after: originOf(found) }) ||
    change.clientSecret !== undefined ||
    change.authMethod !== undefined;
  const client =
    isOther && (await clientFor(deps, caller, { id, settings, found, clientSecret: change.clientSecret }));
  const columns = {
    ...(change.name !== undefined && { name: change.name }),
    settings: JSON.stringify(settings),
    found: JSON.stringify(found),
    ...(client && clientColumns(deps, caller.tenant, { id, found, client, at })),
    status: change.status ?? (row.status === 'error' ? 'active' : row.status),
    lastDiscoveredAt: at,
    lastError: null,
    clientRefusedFor: null,
    updatedAt: at,
  };
  return write(deps, caller, row, { columns, changed: Object.keys(change) });
}

const inSettings = ({ status: _, ...change }: ProviderChange) => change;

const originOf = ({ tokenEndpoint }: Found) => new URL(tokenEndpoint).origin;

/**
 * Reads again what the upstream publishes. A token endpoint of another origin gets no secret: somebody who may change
 * the provider sends it again.
 * @throws NOT_FOUND, DISCOVERY_FAILED, UPSTREAM_ERROR
 */
export async function rediscover(deps: ProviderDeps, caller: Caller, id: string): Promise<Provider> {
  const row = await storedProvider(deps, caller.tenant, id);
  const at = deps.clock();
  const found = await discover(deps.upstream, settingsOf(row)).catch(async (error: unknown) => {
    if (error instanceof AppError) await markFailed(deps, caller, row, reasonOf(error));
    throw error;
  });
  const columns = { found: JSON.stringify(found), lastDiscoveredAt: at, updatedAt: at };
  if (originOf(found) !== originOf(foundOf(row))) {
    await markFailed(deps, caller, row, 'endpoint_changed');
    return getProvider(deps, caller, id);
  }
  const healed = row.status === 'error' && row.lastError !== 'endpoint_changed';
  const status = healed ? ({ status: 'active', lastError: null, clientRefusedFor: null } as const) : {};
  return write(deps, caller, row, { columns: { ...columns, ...status }, changed: [] });
}

const reasonOf = ({ details }: AppError): string => String(details?.reason ?? 'failed');

type Failing = Pick<ProviderDeps, 'db' | 'clock'>;

/** Sessions begin at active providers only. The class of the error is kept, and no words of the upstream. */
export function markFailed(
  { db, clock }: Failing,
  caller: Caller,
  { id, service }: Pick<ProviderRow, 'id' | 'service'>,
  error: string,
): Promise<void> {
  return inTransaction(db, (tx) => failWithin(tx, caller, { id, service, error }, clock()));
}

async function failWithin(
  tx: Tx,
  caller: Caller,
  { id, service, error }: { readonly id: string; readonly service: string; readonly error: string },
  at: Date,
): Promise<void> {
  const isNew = await failProvider(tx, caller.tenant, id, { lastError: error, updatedAt: at });
  if (!isNew) return;
  const data = { providerId: id, service, error };
  await recordActs(tx, caller, [{ type: 'vault.provider.failed', data }], at);
}

interface Write {
  readonly columns: Parameters<typeof updateProvider>[3];
  readonly changed: readonly string[];
}

/** @throws CONFLICT when another change came first */
function write(
  deps: ProviderDeps,
  caller: Caller,
  row: ProviderRow,
  { columns, changed }: Write,
): Promise<Provider> {
  const { id, service } = row;
  return inTransaction(deps.db, async (tx) => {
    const after = await updateProvider(tx, caller.tenant, row, columns);
    if (!after) throw new AppError('CONFLICT', 'The provider was changed meanwhile. Read it again.');
    const data = { providerId: id, service, changed };
    await recordActs(tx, caller, [{ type: 'vault.provider.updated', data }], deps.clock());
    return toProvider(deps, after);
  });
}
