import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, isPortFree, portOwner } from '../machine/ports.ts';
import { givenSetting, type Home, unlessGiven } from './home.ts';
import { keepKeys } from './keys.ts';
import { runPostgres, runRedis } from './postgres.ts';
import { launchServer, logFile } from './server.ts';
import type { Life } from './stopping.ts';

/** Where `npm start` listens, for the commands that are run beside it. */
const ADDRESS_FILE = 'address';

/** The service of BEHEST_URL or PORT, else the one that `npm start` has started last in this checkout. */
export function addressBeside(folder: string): string {
  const { BEHEST_URL, PORT } = process.env;
  if (BEHEST_URL) return BEHEST_URL.replace(/\/$/, '');
  const file = join(folder, ADDRESS_FILE);
  if (PORT || !existsSync(file)) return `http://localhost:${PORT || '3001'}`;
  return readFileSync(file, 'utf8');
}

export interface StartOptions {
  readonly life: Life;
  readonly print: (line: string) => void;
  /** Shows every line of the server's log unchanged. */
  readonly isLogShown: boolean;
  /** Prints a line for each request. */
  readonly hasRequests: boolean;
  /** The command that starts at another port. */
  readonly commandFor: (port: number) => string;
}

/** Starts Postgres and Redis side by side, then the server, and prints the addresses and the keys. */
export async function start(home: Home, options: StartOptions) {
  const { life, print, isLogShown, hasRequests, commandFor } = options;
  const asked = Number(givenSetting('PORT') ?? 3001);
  const port = asked === 0 ? await freePort() : asked;
  const host = givenSetting('HOST') ?? '127.0.0.1';
  await refuseTakenPort(port, host, commandFor);
  if (process.env.NODE_ENV === 'production')
    print('NODE_ENV=production is ignored: production starts with node apps/server/start.mjs.');

  const [postgres, redis] = await Promise.all([
    life.add(() => runPostgres(home)),
    life.add(() => runRedis(home, print)),
  ]);
  print(`Postgres  ${postgres.words}`);
  print(`Redis     ${redis.words}`);

  const keys = keepKeys(home.folder);
  const ours = { ...keys, HOST: host, DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  const env = { ...process.env, ...unlessGiven(ours), PORT: String(port), NODE_ENV: 'development' };
  const server = await life.add(() => launchServer(home, { env, isLogShown, hasRequests, print }));
  await server.healthy(`http://${reachable(host)}:${port}/health`);

  const address = givenSetting('PUBLIC_BASE_URL') ?? `http://localhost:${port}`;
  writeFileSync(join(home.folder, ADDRESS_FILE), address);
  const sandboxKey = givenSetting('SEED_SANDBOX_KEY') ?? keys.SEED_SANDBOX_KEY;
  print(
    `Log       ${isLogShown ? 'below' : hasRequests ? 'requests and warnings below' : 'warnings below'}, all of it in ${logFile(home)}`,
  );
  print(`\nBehest listens at ${address}\n`);
  const link = await consoleLink(`http://${reachable(host)}:${port}`, sandboxKey);
  if (link !== undefined) print(`  console      ${link} (works once, for ten minutes)`);
  print(`  live key     ${givenSetting('SEED_API_KEY') ?? keys.SEED_API_KEY}`);
  print(`  sandbox key  ${sandboxKey}\n`);
  return { server, address, sandboxKey };
}

/** A link that opens the console of the sandbox. None if the key is not one of this database. */
async function consoleLink(server: string, sandboxKey: string): Promise<string | undefined> {
  const answer = await fetch(`${server}/v1/console/session/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandboxKey}`, 'content-type': 'application/json' },
    body: '{}',
  });
  return answer.ok ? Object(await answer.json()).url : undefined;
}

async function refuseTakenPort(
  port: number,
  host: string,
  commandFor: StartOptions['commandFor'],
): Promise<void> {
  if (await isPortFree(port, host)) return;
  const pid = portOwner(port);
  const owner = pid ? `pid ${pid}` : "another user's process";
  throw new Error(`port ${port} is taken by ${owner}; end it, or choose another: ${commandFor(port + 1)}`);
}

/** Makes an address that reaches a server which listens on this one. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
