import { type SqlBool, sql } from 'kysely';
import type { Tenant } from '../caller.ts';
import type { Executor } from './db.ts';

/** Rows whose `principal_id` is one of these, in any case. An index on `lower(principal_id)` serves it. */
export const hasFoldedPrincipal = (ids: readonly string[]) =>
  sql<SqlBool>`lower(principal_id) = any(array(select lower(i) from unnest(${[...ids]}::text[]) i))`;

/** Makes the search for the principals of a table's rows who have one of these ids, in any case. */
export function principalsIn(tableName: string) {
  const table = sql.table(tableName);
  return async (db: Executor, { developerId }: Tenant, ids: readonly string[]): Promise<string[]> => {
    const { rows } = await sql<{
      principalId: string;
    }>`select distinct principal_id as "principalId" from ${table}
      where developer_id = ${developerId} and ${hasFoldedPrincipal(ids)}`.execute(db);
    return rows.map(({ principalId }) => principalId);
  };
}
