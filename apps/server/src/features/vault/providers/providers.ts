import type { Caller, Tenant } from '../../../platform/caller.ts';
import { type Executor, inTransaction, isReferenced, isTaken } from '../../../platform/db/db.ts';
import { currentKey } from '../../../platform/envelope.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { freeQuota, useQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { clientColumns, clientFor } from './client.ts';
import { discover, mustBeCallable } from './discovery.ts';
import {
  CONNECTED,
  deleteProviderRow,
  findProvider,
  findProviderOf,
  insertProvider,
  type ProviderRow,
  SERVICE_INDEX,
} from './providers.repo.ts';
import { mustBeService, newSettings } from './providers.rules.ts';
import type { NewProvider, Provider } from './providers.schema.ts';
import { type ProviderDeps, toProvider, withPreset } from './show.ts';

/** @throws BAD_REQUEST, DISCOVERY_FAILED, CONFLICT, PLAN_LIMIT_EXCEEDED, UPSTREAM_ERROR, NOT_CONFIGURED */
export async function addProvider(deps: ProviderDeps, caller: Caller, input: NewProvider): Promise<Provider> {
  const { service, ...rest } = input;
  mustBeService(service);
  const described = withPreset(rest);
  const settings = newSettings(described);
  mustBeCallable(deps.upstream, settings);
  currentKey(deps.vault);
  const at = deps.clock();
  const id = newId('prov', at);
  const found = await discover(deps.upstream, settings);
  const client = await clientFor(deps, caller, { id, settings, found, clientSecret: input.clientSecret });
  const row = {
    id,
    service,
    name: described.name ?? service,
    settings: JSON.stringify(settings),
    found: JSON.stringify(found),
    ...clientColumns(deps, caller.tenant, { id, found, client, at }),
    status: 'active',
    lastDiscoveredAt: at,
    lastError: null,
    createdAt: at,
    updatedAt: at,
  } as const;
  try {
    return await inTransaction(deps.db, async (tx) => {
      await useQuota(tx, deps.quotas, caller, 'vault_providers', at);
      const stored = await insertProvider(tx, caller.tenant, row);
      await recordActs(
        tx,
        caller,
        [{ type: 'vault.provider.created', data: { providerId: id, service } }],
        at,
      );
      return toProvider(deps, stored);
    });
  } catch (error) {
    if (!isTaken(error, SERVICE_INDEX)) throw error;
    throw new AppError('CONFLICT', 'There is a provider of this service already.', { field: 'service' });
  }
}

/** @throws NOT_FOUND, CONFLICT while a credential of it exists */
export async function deleteProvider(deps: ProviderDeps, caller: Caller, id: string): Promise<void> {
  const at = deps.clock();
  try {
    await inTransaction(deps.db, async (tx) => {
      const row = await deleteProviderRow(tx, caller.tenant, id);
      if (!row) throw notFound();
      await freeQuota(tx, caller, 'vault_providers', 1);
      const ended = [];
      for (const listener of deps.onDeleted) ended.push(...(await listener(tx, caller, id, at)));
      const data = { providerId: id, service: row.service };
      await recordActs(tx, caller, [{ type: 'vault.provider.deleted', data }, ...ended], at);
    });
  } catch (error) {
    if (!isReferenced(error, CONNECTED)) throw error;
    const message = 'Accounts are connected through this provider. Disconnect them first.';
    throw new AppError('CONFLICT', message, { field: 'connections' });
  }
}

export type { ProviderRow } from './providers.repo.ts';

/** @returns undefined for a provider that is gone */
export const getProviderRow = (db: Executor, tenant: Tenant, id: string): Promise<ProviderRow | undefined> =>
  findProvider(db, tenant, id);

/** The provider at which people connect accounts of a service. @throws NOT_FOUND unless it is active */
export async function findConnectable(db: Executor, tenant: Tenant, service: string): Promise<ProviderRow> {
  const row = await findProviderOf(db, tenant, service);
  if (row?.status !== 'active') throw notFound();
  return row;
}
