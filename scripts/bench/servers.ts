import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { end, type Stores } from '../../test/harness/servers.ts';

/** Starts the floor routes on the same stores, in a process of their own like the server. */
export async function startFloorServer({ databaseUrl, redisUrl }: Stores) {
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  const child = fork(join(import.meta.dirname, 'floor-server.ts'), { execArgv: [], env });
  const [message] = await once(child, 'message');
  return { port: Number(message.port), pid: child.pid ?? 0, stop: () => end(child) };
}

/** Opens a connection to fill tables and to query Postgres about itself. */
export async function openDatabase({ databaseUrl }: Stores): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return client;
}
