import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { startKeeper } from '../../apps/server/test/servers/keeper.ts';
import { waitUntil } from '../../scripts/machine/folders.ts';
import { freePort } from '../../scripts/machine/ports.ts';
import { packPackages } from '../../scripts/pack/pack.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A limit that no measurement reaches. */
const NO_LIMIT = '1000000000';
const LIMITS = [
  'DEFAULT',
  'PLAN_FREE',
  'AUTHORIZE',
  'TOKEN',
  'REFRESH',
  'SIGNUP',
  'SIGNUP_HOURLY',
  'AUDIT_LOG',
  'AUDIT_VERIFY',
  'KEYS',
  'VAULT_EXCHANGE',
  'SCIM',
  'OAUTH_AUTHORIZE',
  'OAUTH_TOKEN',
  'OAUTH_INTROSPECT',
  'VERIFIER_RENEW',
];

const UNLIMITED = {
  PLAN_FREE_AGENTS: 'unlimited',
  PLAN_FREE_ACTIVE_GRANTS: 'unlimited',
  PLAN_FREE_OPEN_REQUESTS: 'unlimited',
  PLAN_FREE_AUTHORIZATIONS: 'unlimited',
  PLAN_FREE_TOKEN_EXCHANGES: 'unlimited',
  PLAN_FREE_AUDIT_APPENDS: 'unlimited',
  ...Object.fromEntries(LIMITS.map((name) => [`RATE_LIMIT_${name}`, NO_LIMIT])),
};

export interface Stores {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts both stores for this run; they end with it.
 * @param syncDelay milliseconds that each synced write takes longer, as on a slower disk
 */
export async function startStores(syncDelay = 0): Promise<Stores> {
  await packPackages(ROOT); // as `npm start` and the image have it
  const postgres = await startKeeper('postgres-keeper.ts', ['--durable', `--sync-delay=${syncDelay}`]);
  const redis = await startKeeper('redis-keeper.ts').catch(async (error: unknown) => {
    await postgres.stop();
    throw error;
  });
  const stop = async () => {
    await Promise.all([postgres.stop(), redis.stop()]);
  };
  return { databaseUrl: postgres.url, redisUrl: redis.url, stop };
}

export interface Server {
  readonly port: number;
  readonly pid: number;
  /** SIGUSR1 opens the inspector there. */
  readonly inspectPort: number;
  /** Seconds from the start to the first good answer. */
  readonly startSeconds: number;
  readonly stop: () => Promise<void>;
  /** Kills the process, as a crash would. */
  readonly kill: () => Promise<void>;
  /** The exit code; null while the process runs, and after a kill. */
  readonly exitCode: () => number | null;
}

export interface ServerOptions {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** True for the rates and plans that the service has by default, in place of none. */
  readonly hasLimits?: boolean;
}

/** Starts the real server: it limits, logs, and writes audit entries in the transaction. */
export async function startServer(stores: Omit<Stores, 'stop'>, options: ServerOptions): Promise<Server> {
  const { folder, env = {}, hasLimits = false } = options;
  mkdirSync(folder, { recursive: true });
  const [port, inspectPort] = [Number(env.PORT) || (await freePort()), await freePort()];
  const log = openSync(join(folder, 'server.log'), 'a');
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [
      `--inspect-port=127.0.0.1:${inspectPort}`,
      '--max-semi-space-size=4',
      '--no-parallel-scavenge',
      join(ROOT, 'apps/server/start.mjs'),
    ],
    {
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'test',
        MALLOC_ARENA_MAX: '2', // as the image has it
        PORT: String(port),
        HOST: '127.0.0.1',
        DATABASE_URL: stores.databaseUrl,
        REDIS_URL: stores.redisUrl,
        RSA_PRIVATE_KEY: SIGNING_KEY,
        VAULT_ENCRYPTION_KEY: VAULT_KEY,
        SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '0',
        LOG_LEVEL: 'info',
        ...(!hasLimits && UNLIMITED),
        ...env,
      },
    },
  );
  closeSync(log);
  endWithUs(child);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  await waitUntil(async () => hasEnded() || (await isHealthy(port)), { seconds: 60 });
  if (hasEnded()) throw new Error(`The server ended with ${child.exitCode}; see ${folder}/server.log.`);
  const startSeconds = (performance.now() - startedAt) / 1000;
  return {
    port,
    pid: child.pid ?? 0,
    inspectPort,
    startSeconds,
    stop: () => end(child),
    kill: () => end(child, 'SIGKILL'),
    exitCode: () => child.exitCode,
  };
}

const SIGNING_KEY = String(
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
);
const VAULT_KEY = randomBytes(32).toString('base64url');

async function isHealthy(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
  return answer?.ok ?? false;
}

/** @returns once the process has ended. */
export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

function endWithUs(child: ChildProcess): void {
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}
