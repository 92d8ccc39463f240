import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { keepProfile } from '../config/keep.ts';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { type Given, isSet, textOf } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

const CHECKOUT = [
  {
    flags: '--checkout <folder>',
    about: 'the checkout of the service; default: this folder or one above it',
  },
];
const DEFAULT_PORT = '3001';

export const DEV: readonly CommandSpec[] = [
  {
    name: 'dev',
    summary: 'Run the service with its PostgreSQL and Redis, as npm start does, until Ctrl-C',
    notes:
      'Keys and data are kept in .behest/ of the checkout, and the keys are saved in the profiles "dev" and "dev-live".',
    examples: ['behest dev', 'behest dev --port 4000'],
    options: [
      ...CHECKOUT,
      { flags: '--port <n>', about: 'the port of the service', default: DEFAULT_PORT },
      { flags: '--database-url <url>', about: 'a PostgreSQL of your own' },
      { flags: '--redis-url <url>', about: 'a Redis of your own' },
      { flags: '--json-logs', about: 'print every line of the log' },
    ],
    run: dev,
  },
  {
    name: 'dev status',
    summary: 'Say whether the service of a checkout runs',
    examples: ['behest dev status'],
    options: CHECKOUT,
    async run(context, given) {
      const pid = runningPid(checkoutOf(context, given));
      await context.one({ running: pid !== undefined, ...(pid !== undefined && { pid }) });
      return pid === undefined ? EXIT.no : EXIT.done;
    },
  },
  {
    name: 'dev stop',
    summary: 'Stop the service of a checkout, in order',
    examples: ['behest dev stop'],
    options: CHECKOUT,
    async run(context, given) {
      const pid = runningPid(checkoutOf(context, given));
      if (pid === undefined) return context.note('It does not run.');
      process.kill(pid, 'SIGTERM');
      context.note(`Stopping (pid ${pid}).`);
    },
  },
];

async function dev(context: Context, given: Given): Promise<number> {
  if (context.io.env.NODE_ENV === 'production')
    throw wrongUsage('behest dev is not for NODE_ENV=production.', context.help);
  const root = checkoutOf(context, given);
  const [port = DEFAULT_PORT, databaseUrl, redisUrl] = ['port', 'databaseUrl', 'redisUrl'].map((name) =>
    textOf(given, name),
  );
  if (!/^\d{1,5}$/.test(port)) throw wrongUsage(`--port has to be a number, and is "${port}".`, context.help);
  const child = spawn(
    process.execPath,
    [join(root, 'tools/run.mjs'), 'tools/dev.ts', ...(isSet(given, 'jsonLogs') ? ['--log'] : [])],
    {
      cwd: root,
      env: {
        ...context.io.env,
        ...{ PORT: port, SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '0' },
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const stop = () => child.kill('SIGTERM');
  context.io.signal.addEventListener('abort', stop, { once: true });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    context.io.out(text);
    if (text.includes('Behest listens at')) keepKeys(context, root, port);
  });
  const code = await new Promise<number>((done, fail) => {
    child.once('error', fail);
    child.once('close', (status) => done(status ?? EXIT.done));
  });
  if (context.io.signal.aborted) return EXIT.done; // it was asked to end, and did so in order
  if (code !== 0)
    throw new CliError('DEV', `The service ended with ${code}.`, {
      exitCode: EXIT.unavailable,
      next: 'behest doctor',
    });
  return EXIT.done;
}

/** Saves the keys that the start has made, in profiles of their own. */
function keepKeys(context: Context, root: string, port: string): void {
  const kept: unknown = JSON.parse(readFileSync(join(root, '.behest/keys.json'), 'utf8'));
  const { SEED_API_KEY: live, SEED_SANDBOX_KEY: sandbox } = isRecord(kept) ? kept : {};
  const baseUrl = `http://localhost:${port}`;
  if (typeof sandbox === 'string')
    keepProfile(context.io, 'dev', { baseUrl, apiKey: sandbox, developerId: undefined });
  if (typeof live === 'string')
    keepProfile(context.io, 'dev-live', { baseUrl, apiKey: live, developerId: undefined });
  context.note(
    'The keys are saved in the profiles "dev" (sandbox) and "dev-live".\nnext: behest --profile dev demo · behest init',
  );
}

/** @throws CliError where there is no checkout */
function checkoutOf(context: Context, given: Given): string {
  const named = textOf(given, 'checkout');
  let folder = resolve(context.io.folder, named ?? '.');
  while (!existsSync(join(folder, 'tools/dev.ts'))) {
    if (named !== undefined || dirname(folder) === folder) {
      throw wrongUsage(
        'There is no checkout of the service here: go to one, or name it with --checkout.',
        'behest dev --help',
      );
    }
    folder = dirname(folder);
  }
  return folder;
}

function runningPid(root: string): number | undefined {
  const file = join(root, '.behest/start.pid');
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  try {
    return pid > 0 && process.kill(pid, 0) ? pid : undefined;
  } catch {
    return undefined; // a pid file of a process that is gone
  }
}
