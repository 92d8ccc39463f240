import { resolve } from 'node:path';
import { readText } from './config/settings.ts';
import type { Context } from './context.ts';
import { wrongUsage } from './errors.ts';
import type { Given, OptionSpec } from './program/spec.ts';

/** The options of a command that takes a token. */
export const TOKEN_OPTIONS: readonly OptionSpec[] = [
  { flags: '--file <file>', about: 'read the token from a file' },
  { flags: '--stdin', about: 'read the token from standard input' },
  { flags: '--env <name>', about: 'read the token from a variable' },
];

/**
 * Reads the token of a command from exactly one of its places.
 *
 * @param argument the token of the command line, which other users of the machine can see
 */
export async function tokenOf(context: Context, given: Given, argument: string | undefined): Promise<string> {
  const { file, stdin, env } = given.options;
  if (argument !== undefined && context.io.isTerminal.errors)
    context.note('A token on the command line is visible in the list of processes. --stdin hides it.');
  return oneSecret(
    context,
    { argument, file, stdin, env },
    'the token as an argument, --file, --stdin or --env',
  );
}

/** The options of a secret of a command, such as `--access-token-file`. */
export const secretOptions = (flag: string, about: string): OptionSpec[] => [
  { flags: `--${flag}-file <file>`, about: `read ${about} from a file` },
  { flags: `--${flag}-stdin`, about: `read ${about} from standard input` },
  { flags: `--${flag}-env <name>`, about: `read ${about} from a variable` },
];

/** Reads a secret. @param name the name of its options in camel case @returns undefined where no place was given */
export async function secretOf(context: Context, given: Given, name: string): Promise<string | undefined> {
  const [file, stdin, env] = ['File', 'Stdin', 'Env'].map((end) => given.options[`${name}${end}`]);
  if (file === undefined && stdin === undefined && env === undefined) return undefined;
  const flag = flagOf(name);
  return oneSecret(context, { file, stdin, env }, `--${flag}-file, --${flag}-stdin or --${flag}-env`);
}

export const flagOf = (name: string) =>
  name
    .replaceAll('_', '-')
    .replaceAll(/[A-Z]+/g, (capitals) => `-${capitals.toLowerCase()}`)
    .replace(/^-/, '');

interface Places {
  readonly argument?: string | undefined;
  readonly file?: unknown;
  readonly stdin?: unknown;
  readonly env?: unknown;
}

async function oneSecret(context: Context, places: Places, words: string): Promise<string> {
  const { argument, file, stdin, env } = places;
  const given = [argument, file, stdin, env].filter((each) => each !== undefined);
  if (given.length !== 1) throw wrongUsage(`Give exactly one of: ${words}.`, context.help);
  const text =
    argument ??
    (typeof file === 'string' ? readText(resolve(context.io.folder, file)) : undefined) ??
    (typeof env === 'string' ? (context.io.env[env] ?? '') : await context.io.input());
  const secret = text.trim();
  if (secret) return secret;
  throw wrongUsage(`Nothing was found there. Give one of: ${words}.`, context.help);
}
