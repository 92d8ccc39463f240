import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, isPortFree, portOwner } from '../machine/ports.ts';
import { givenSetting, type Home, runPostgres, runRedis, unlessGiven } from './postgres.ts';
import { launchServer, logFile } from './server.ts';
import type { Life } from './stopping.ts';

/** The keys, by the names of the server's variables. */
const makers: Readonly<Record<KeyName, () => string>> = {
  SEED_API_KEY: () => `bh_live_${randomBytes(32).toString('base64url')}`,
  SEED_SANDBOX_KEY: () => `bh_test_${randomBytes(32).toString('base64url')}`,
  SEED_CONSENT_KEY: () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return JSON.stringify(privateKey.export({ format: 'jwk' }));
  },
  RSA_PRIVATE_KEY: () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  },
  ED25519_PRIVATE_KEY: () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  },
  VAULT_ENCRYPTION_KEY: () => randomBytes(32).toString('base64url'),
};

type KeyName =
  | 'SEED_API_KEY'
  | 'SEED_SANDBOX_KEY'
  | 'SEED_CONSENT_KEY'
  | 'RSA_PRIVATE_KEY'
  | 'ED25519_PRIVATE_KEY'
  | 'VAULT_ENCRYPTION_KEY';

type Keys = Readonly<Record<KeyName, string>>;

/** Makes the keys once, so that tokens from before a restart still verify. */
export function keepKeys(home: string): Keys {
  const file = join(home, 'keys.json');
  const kept: Partial<Keys> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const key = (name: KeyName) => kept[name] ?? makers[name]();
  const keys = {
    SEED_API_KEY: key('SEED_API_KEY'),
    SEED_SANDBOX_KEY: key('SEED_SANDBOX_KEY'),
    SEED_CONSENT_KEY: key('SEED_CONSENT_KEY'),
    RSA_PRIVATE_KEY: key('RSA_PRIVATE_KEY'),
    ED25519_PRIVATE_KEY: key('ED25519_PRIVATE_KEY'),
    VAULT_ENCRYPTION_KEY: key('VAULT_ENCRYPTION_KEY'),
  };
  const text = `${JSON.stringify(keys, undefined, 2)}\n`;
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file); // the rename makes the file appear whole
  }
  return keys;
}

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
