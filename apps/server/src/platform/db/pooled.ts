import type pg from 'pg';

const known = new WeakMap<pg.ClientBase, Promise<boolean>>();

/**
 * Whether a pooler stands between a connection and Postgres: it begins a connection with a process id of its own
 * making, because the process may change. Asks once for each connection.
 */
export function isPooled(client: pg.ClientBase): Promise<boolean> {
  const answer = known.get(client) ?? ask(client);
  known.set(client, answer);
  return answer;
}

async function ask(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid !== ('processID' in client ? client.processID : undefined);
}
