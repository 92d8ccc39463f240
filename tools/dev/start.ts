import { portOwner } from '../machine/port-owner.ts';
import { isPortFree } from '../machine/ports.ts';
import { packPackages } from '../pack/pack.ts';
import type { Home } from './home.ts';
import { keepKeys } from './keys.ts';
import { runPostgres } from './postgres.ts';
import { runRedis } from './redis.ts';
import { launchServer, logFile } from './server.ts';
import { givenSetting, unlessGiven } from './settings.ts';
import type { Life } from './stopping.ts';
import { walk } from './walk.ts';

export interface StartOptions {
  readonly life: Life;
  readonly print: (line: string) => void;
  /** Shows every line of the server's log unchanged. */
  readonly isLogShown: boolean;
}

/** Starts Postgres and Redis side by side, then the server, and prints the addresses and the first steps. */
export async function start(home: Home, { life, print, isLogShown }: StartOptions) {
  const port = Number(givenSetting('PORT') ?? 3001);
  const host = givenSetting('HOST') ?? '127.0.0.1';
  await refuseTakenPort(port, host);
  if (process.env.NODE_ENV === 'production')
    print('NODE_ENV=production is ignored: production starts with node apps/server/start.mjs.');

  const starting = [life.add(() => runPostgres(home)), life.add(() => runRedis(home, print))] as const;
  const [postgres, redis] = await Promise.all([...starting, packPackages(home.root)]);
  print(`Postgres  ${postgres.words}`);
  print(`Redis     ${redis.words}`);

  const keys = keepKeys(home.folder);
  const ours = { ...keys, HOST: host, DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  const env = { ...process.env, ...unlessGiven(ours), NODE_ENV: 'development' };
  const server = await life.add(() => launchServer(home, { env, isLogShown, print }));
  await server.healthy(`http://${reachable(host)}:${port}/health`);

  const address = givenSetting('PUBLIC_BASE_URL') ?? `http://localhost:${port}`;
  const sandboxKey = givenSetting('SEED_SANDBOX_KEY') ?? keys.SEED_SANDBOX_KEY;
  print(`Log       ${isLogShown ? 'below' : 'warnings below'}, all of it in ${logFile(home)}`);
  print(`\nBehest listens at ${address}\n`);
  print(`  live key     ${givenSetting('SEED_API_KEY') ?? keys.SEED_API_KEY}`);
  print(`  sandbox key  ${sandboxKey}\n`);
  print(`Try it, in another shell:\n\n${walk(address, sandboxKey)}\n\nCtrl-C ends everything.`);
  return server;
}

async function refuseTakenPort(port: number, host: string): Promise<void> {
  if (await isPortFree(port, host)) return;
  const pid = portOwner(port);
  const owner = pid ? `pid ${pid}` : "another user's process";
  throw new Error(`port ${port} is taken by ${owner}; end it, or choose another: PORT=${port + 1} npm start`);
}

/** Makes an address that reaches a server which listens on this one. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
