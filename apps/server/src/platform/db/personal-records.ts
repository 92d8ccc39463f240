import { sql } from 'kysely';
import type { Tenant } from '../caller.ts';
import { hook } from '../hooks.ts';
import type { Executor } from './db.ts';

/**
 * Tells the records of a noun about one person, a portion at a time. A record has the member `type`, and no secret or
 * credential.
 */
export type TellOfPerson = (
  db: Executor,
  tenant: Tenant,
  principalId: string,
) => AsyncIterable<readonly object[]>;

/** A person asks what is kept about them. Each noun with such rows listens. */
export const personTold = hook<TellOfPerson>('person told');

const PORTION = 50; // rows in memory at once

/** Tells these columns of a table's rows, which have the columns `principal_id` and `id`. */
export function tellerOf(type: string, tableName: string, columns: readonly string[]): TellOfPerson {
  const [table, names] = [sql.table(tableName), sql.join(columns.map((column) => sql.ref(column)))];
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
