import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { findProvider, findProviderOf, type ProviderRow } from './providers.repo.ts';

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
