import type { RawBuilder } from 'kysely';
import type { Tenant } from '../caller.ts';
import { hook } from '../hooks.ts';
import type { Tx } from './db.ts';

/**
 * Deletes at most `limit` rows of each of a noun's tables. A row that others refer to may make it fail: it is called
 * again after they are gone.
 * @returns how many rows it deleted, 0 at the end
 */
export type EraseRows = (tx: Tx, tenant: Tenant, limit: number) => Promise<number>;

/** The rows of a closed account are erased. Each noun with tables listens. */
export const tenantErased = hook<EraseRows>('tenant erased');

/** Runs delete statements in their order. @returns how many rows they deleted */
export async function deletedBy(tx: Tx, ...statements: RawBuilder<unknown>[]): Promise<number> {
  let rows = 0;
  for (const statement of statements) {
    const { numAffectedRows = 0n } = await statement.execute(tx);
    rows += Number(numAffectedRows);
  }
  return rows;
}
