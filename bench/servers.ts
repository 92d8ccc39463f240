import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { end, type Stores } from '../tools/measured/servers.ts';

/** Starts a route that does nothing, in its own process like the server. */
export async function startBareServer() {
  const child = fork(join(import.meta.dirname, 'bare-server.ts'), { execArgv: [] });
  const [message] = await once(child, 'message');
  return { port: Number(message.port), pid: child.pid ?? 0, stop: () => end(child) };
}

/** Opens a connection to fill tables and to query Postgres about itself. */
export async function openDatabase({ databaseUrl }: Stores): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return client;
}
