import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { play } from '../demo/play.ts';
import { dataOf, placeOf } from '../dev/place.ts';
import { runDetached, runHere } from '../dev/run.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, textOf } from '../program/spec.ts';

export const DEMO: readonly CommandSpec[] = [
  {
    name: 'demo',
    isLocal: true,
    summary: 'Play the life of a grant against the service, in about twenty lines',
    notes: 'It needs the key of a sandbox account, and removes its agents afterwards.',
    examples: ['behest demo', 'behest demo --keep'],
    options: [{ flags: '--keep', about: 'leave the agents in the account' }],
    run: async (context, given) => play(context, isSet(given, 'keep')),
  },
];

const WHERE = [
  { flags: '--data <folder>', about: 'the folder of data and keys; default: .behest' },
  { flags: '--checkout <folder>', about: 'a checkout of the service; default: one around this folder' },
];
const [DEFAULT_PORT, OLDEST] = ['3001', '24.9'];

export const DEV: readonly CommandSpec[] = [
  {
    name: 'dev',
    isLocal: true,
    summary: 'Run the service with its PostgreSQL and Redis, as npm start does, until Ctrl-C',
    notes:
      'Keys and data are kept in .behest/, and the keys are saved in the profiles "dev" and "dev-live". Without an installed @behest/server, npm fetches it once.',
    examples: [
      'behest dev',
      'behest dev --port 0 --detach',
      'behest dev --seed behest.yaml',
      'behest dev --webhooks',
    ],
    options: [
      ...WHERE,
      { flags: '--port <n>', about: 'the port of the service, or 0 for a free one', default: DEFAULT_PORT },
      { flags: '--database-url <url>', about: 'a PostgreSQL of your own' },
      { flags: '--redis-url <url>', about: 'a Redis of your own' },
      { flags: '--seed <file>', about: 'make the sandbox account as this file says, as behest apply does' },
      {
        flags: '--webhooks',
        about: 'receive the webhooks of both accounts here, and print each once it is verified',
      },
      { flags: '--reset', about: 'remove data and keys first' },
      { flags: '--detach', about: 'return when the service runs' },
      { flags: '--json-logs', about: 'print every line of the log' },
      { flags: '--no-console', about: 'refused: the service has no console to leave out' },
      { flags: '--time <instant>', about: 'refused: the clock of the service is that of the machine' },
    ],
    run: dev,
  },
  {
    name: 'dev status',
    summary: 'Say whether the service of this folder runs',
    examples: ['behest dev status'],
    options: WHERE,
    async run(context, given) {
      const pid = runningPid(dataOf(context, given));
      await context.one({ running: pid !== undefined, ...(pid !== undefined && { pid }) });
      return pid === undefined ? EXIT.no : EXIT.done;
    },
  },
  {
    name: 'dev stop',
    isLocal: true,
    summary: 'Stop the service of this folder, in order',
    examples: ['behest dev stop'],
    options: WHERE,
    async run(context, given) {
      const pid = runningPid(dataOf(context, given));
      if (pid === undefined) return context.note('It does not run.');
      process.kill(pid, 'SIGTERM');
      context.note(`Stopping (pid ${pid}).`);
    },
  },
];

async function dev(context: Context, given: Given): Promise<number> {
  if (context.io.env.NODE_ENV === 'production')
    throw wrongUsage('behest dev is not for NODE_ENV=production.', context.help);
  if (process.versions.node.localeCompare(OLDEST, 'en', { numeric: true }) < 0)
    throw wrongUsage(`behest dev needs Node ${OLDEST}, and this is ${process.versions.node}.`, context.help);
  if (given.options.console === false)
    throw wrongUsage('The service has no console, so there is nothing to leave out.', context.help);
  if (textOf(given, 'time') !== undefined)
    throw wrongUsage(
      'The clock of the service is that of the machine, and cannot be set. Give grants a short life with expiresIn to see them expire.',
      context.help,
    );
  const [port = DEFAULT_PORT, databaseUrl, redisUrl, seed] = ['port', 'databaseUrl', 'redisUrl', 'seed'].map(
    (name) => textOf(given, name),
  );
  if (!/^\d{1,5}$/.test(port)) throw wrongUsage(`--port has to be a number, and is "${port}".`, context.help);
  const hasReceiver = isSet(given, 'webhooks');
  if (hasReceiver && isSet(given, 'detach'))
    throw wrongUsage('--webhooks needs this terminal, so it does not go with --detach.', context.help);
  const place = placeOf(context, given);
  if (isSet(given, 'reset')) await context.confirm(`Remove the data and keys in ${place.data}?`);
  const env = {
    ...{ PORT: port, SIGNING_KEY_ACTIVATION_DELAY_SECONDS: '0' },
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    ...(hasReceiver && { WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' }), // the receiver is on this machine
  };
  const run = isSet(given, 'detach') ? runDetached : runHere;
  return run(context, { place, env, seed, hasReceiver });
}

function runningPid(data: string): number | undefined {
  const file = join(data, 'start.pid');
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  try {
    return pid > 0 && process.kill(pid, 0) ? pid : undefined;
  } catch {
    return undefined; // a pid file of a process that is gone
  }
}
