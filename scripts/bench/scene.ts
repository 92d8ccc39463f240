import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { end, type Server, type Stores, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { ask } from '../redis/server.ts';
import { driverMeter, familyMeterOf, type Meter, meterOf, parentOf } from './machine.ts';
import type { Target } from './rounds.ts';

/** Everything that runs beside the driver. */
export interface Scene {
  readonly stores: Stores;
  readonly folder: string;
  readonly db: pg.Client;
  readonly server: Server;
  readonly service: Target;
  readonly floor: Target;
  readonly redisVersion: string;
}

/** Starts the stores, the service and the floor routes; they end with the stack. */
export async function setScene(cleanUp: AsyncDisposableStack, syncDelay = 0): Promise<Scene> {
  const stores = cleanUp.adopt(await startStores(syncDelay), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  await (await startServer(stores, { folder })).stop(); // migrates
  const server = cleanUp.adopt(await startServer(stores, { folder }), ({ stop }) => stop());
  const routes = cleanUp.adopt(await startFloorServer(stores), ({ stop }) => stop());

  const redis = await redisFacts(stores.redisUrl);
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
  const shared: Record<string, Meter> = {
    postgres: familyMeterOf(parentOf(rows[0]?.pid ?? 0)),
    redis: meterOf(redis.pid),
    driver: driverMeter,
  };
  return {
    stores,
    folder,
    db,
    server,
    service: { port: server.port, meters: { server: meterOf(server.pid), ...shared } },
    floor: { port: routes.port, meters: { server: meterOf(routes.pid), ...shared } },
    redisVersion: redis.version,
  };
}

export async function redisFacts(url: string): Promise<{ readonly version: string; readonly pid: number }> {
  const { port, password } = new URL(url);
  const answer = await ask({ port: Number(port), password }, 'INFO server');
  const fact = (name: string) => new RegExp(`${name}:(\\S+)`).exec(answer)?.[1];
  return { version: fact('redis_version') ?? 'unknown', pid: Number(fact('process_id') ?? 0) };
}

/** The last fault or warning in the server's log. */
export function lastProblem({ folder }: Scene): string {
  const lines = readFileSync(join(folder, 'server.log'), 'utf8').split('\n');
  return lines.findLast((line) => /"level":"(error|fatal|warn)"/.test(line)) ?? 'nothing';
}

/** Starts the floor routes on the same stores, in a process of their own like the server. */
async function startFloorServer({ databaseUrl, redisUrl }: Stores) {
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
