import type pg from 'pg';

/**
 * A list is read in the order of its index, row by row. While Postgres takes the table for small, it would read all rows
 * of the developer to sort them, and it keeps such a plan while the table grows.
 */
const ASK_AND_SET = `select pg_is_in_recovery() as "isStandby", set_config('enable_seqscan', 'off', false),
  set_config('enable_bitmapscan', 'off', false)`;

/**
 * For a new connection, which the pool then forgets. During a fail-over the address of the primary may lead to a standby
 * for a while, whose reads are of the past. A token that was just revoked would be good there. The function asks, because a
 * pooler may repeat the `in_hot_standby` of another server.
 * @throws on a standby, with the code of a refused write
 * @see https://github.com/pgbouncer/pgbouncer/issues/859
 */
export async function requirePrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(ASK_AND_SET);
  if (!rows[0]?.isStandby) return;
  throw Object.assign(new Error('The server of the database is a standby.'), { code: '25006' });
}
