import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Io } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';

export interface Profile {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly consentKeyFile?: string;
  /** The account of the key, which is asked for once. */
  readonly developerId?: string;
}

export interface UserConfig {
  readonly current: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const OTHERS = 0o077; // the bits of group and world

export function userFile({ env, home }: Pick<Io, 'env' | 'home'>): string {
  if (env.BEHEST_CONFIG) return env.BEHEST_CONFIG;
  if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, 'behest', 'config.json');
  return join(home, '.behest', 'config.json');
}

/** @throws CliError for a file that cannot be read, which is not taken for an absent one */
export function readUserConfig(file: string): UserConfig {
  if (!existsSync(file)) return { current: 'default', profiles: {} };
  const { current = 'default', profiles = {} } = readJsonFile(file);
  if (typeof current !== 'string' || !isRecord(profiles)) throw badFile(file, SHAPE);
  return {
    current,
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, given]) => [name, profileIn(file, given)]),
    ),
  };
}

const SHAPE = '`current` has to be a text, and `profiles` an object of profiles whose members are texts';

function profileIn(file: string, given: unknown): Profile {
  if (isRecord(given) && Object.values(given).every((value) => typeof value === 'string'))
    return { ...given };
  throw badFile(file, SHAPE);
}

/** True for a file that other users of the machine may read. */
function isOpenToOthers(file: string): boolean {
  return process.platform !== 'win32' && existsSync(file) && (statSync(file).mode & OTHERS) !== 0;
}

/** Writes the file whole, or not at all, for its owner alone. */
export function writeUserConfig(file: string, config: UserConfig): void {
  const folder = dirname(file);
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600); // the mode of a new file is narrowed by the umask, and never widened
  renameSync(draft, file);
}

/** Reads a file that has to be a JSON object. @throws CliError with the position of the first fault */
export function readJsonFile(file: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw badFile(file, error instanceof Error ? error.message : String(error));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badFile(file, positionOf(text, error));
  }
  if (!isRecord(value)) throw badFile(file, 'it has to be a JSON object');
  return value;
}

const TOKEN = /\s*(?:[{}[\],:]|"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

/** The place of a fault, and nothing of the text, which may have a key in it. */
function positionOf(text: string, error: unknown): string {
  const [, told] = /position (\d+)/.exec(String(error)) ?? [];
  let at = Number(told ?? 0);
  // The parser names no place for a word that is no token.
  if (told === undefined) for (TOKEN.lastIndex = 0; TOKEN.test(text); ) at = TOKEN.lastIndex;
  const blank = text.slice(at).length - text.slice(at).trimStart().length;
  const before = text.slice(0, at + blank).split('\n');
  return `it is no JSON, at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const badFile = (file: string, fault: string) =>
  new CliError('CONFIGURATION', `${file} cannot be read: ${fault}.`, {
    exitCode: EXIT.usage,
    next: 'behest config path',
  });

/** Warns of a file of keys that other users can read. The next write narrows it. */
export function warnOfOpenFile(io: Io): void {
  const file = userFile(io);
  if (isOpenToOthers(file))
    io.err(`warning: ${file} can be read by other users of this machine: chmod 600 ${file}\n`);
}

type Changes = { readonly [Name in keyof Profile]?: Profile[Name] | undefined };

/** Changes a profile in the file, or adds it. The first profile becomes the current one. */
export function keepProfile(io: Pick<Io, 'env' | 'home'>, name: string, changes: Changes): void {
  const file = userFile(io);
  const config = readUserConfig(file);
  const merged = Object.entries({ ...config.profiles[name], ...changes }).filter(
    ([, value]) => value !== undefined,
  );
  const isFirst = Object.keys(config.profiles).length === 0;
  writeUserConfig(file, {
    current: isFirst ? name : config.current,
    profiles: { ...config.profiles, [name]: Object.fromEntries(merged) },
  });
}
