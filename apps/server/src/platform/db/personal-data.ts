import { type RawBuilder, sql } from 'kysely';
import type { Tenant } from '../caller.ts';
import { hook } from '../hooks.ts';
import type { Executor, Tx } from './db.ts';

/**
 * Deletes at most `limit` rows of each of a noun's tables. A row that others refer to may make it fail: it is called
 * again after they are gone.
 * @returns how many rows it deleted, 0 at the end
 */
export type EraseRows = (tx: Tx, tenant: Tenant, limit: number) => Promise<number>;

/** The rows of a closed account are erased. Each noun with tables listens. */
export const tenantErased = hook<EraseRows>('tenant erased');

/** Deletes rows of these tables, in this order. */
export function eraserOf(...tables: string[]): EraseRows {
  return async (tx, { developerId }, limit) => {
    let rows = 0;
    for (const name of tables) {
      const table = sql.table(name);
      rows += await deletedBy(
        tx,
        sql`delete from ${table} where developer_id = ${developerId}
          and ctid = any (array(select ctid from ${table} where developer_id = ${developerId} limit ${limit}))`,
      );
    }
    return rows;
  };
}

/** Runs a delete statement. @returns how many rows it deleted */
export async function deletedBy(tx: Tx, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows = 0n } = await statement.execute(tx);
  return Number(numAffectedRows);
}

/**
 * Tells the records of a noun about one person, a portion at a time. A record has the member `type`, and no secret or
 * credential.
 */
export type ExportOfPerson = (
  db: Executor,
  tenant: Tenant,
  principalId: string,
) => AsyncIterable<readonly object[]>;

/** A person asks what is kept about them. Each noun with such rows listens. */
export const personExported = hook<ExportOfPerson>('person exported');

/** Erases what a noun keeps about one person beside the records in force, in the transaction that ends their erasure. */
export type ErasePerson = (tx: Tx, tenant: Tenant, principalId: string) => Promise<void>;

/** The content of a person is erased from the audit log. */
export const personErased = hook<ErasePerson>('person erased');

const PORTION = 50; // rows in memory at once

/** Tells these columns of a table's rows, or of a subquery's, which have the columns `principal_id` and `id`. */
export function exportOf(
  type: string,
  rowsOf: string | RawBuilder<unknown>,
  columns: readonly string[],
): ExportOfPerson {
  const table = typeof rowsOf === 'string' ? sql.table(rowsOf) : rowsOf;
  const names = sql.join(columns.map((column) => sql.ref(column)));
  return async function* (db, { developerId }, principalId) {
    for (let [after, goesOn] = ['', true]; goesOn; ) {
      const { rows } = await sql<{ id: string }>`select id, ${names} from ${table}
        where developer_id = ${developerId} and principal_id = ${principalId} and id > ${after}
        order by id limit ${PORTION}`.execute(db);
      yield rows.map((row) => ({ type, ...row }));
      after = rows.at(-1)?.id ?? after;
      goesOn = rows.length === PORTION;
    }
  };
}
