import type pg from 'pg';

/**
 * For a new connection, which the pool then forgets. During a fail-over the address of the primary may lead to a standby
 * for a while, whose reads are of the past. A token that was just revoked would be good there. The function asks, because a
 * pooler may repeat the `in_hot_standby` of another server.
 * @throws on a standby, with the code of a refused write
 * @see https://github.com/pgbouncer/pgbouncer/issues/859
 */
export async function requirePrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query('select pg_is_in_recovery() as "isStandby"');
  if (!rows[0]?.isStandby) return;
  throw Object.assign(new Error('The server of the database is a standby.'), { code: '25006' });
}
