import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Io } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import type { Globals } from '../program/globals.ts';
import { type Profile, readJsonFile, readUserConfig, userFile } from './user-file.ts';

const DEFAULT_URL = 'http://localhost:3001';

/** Where the program calls, with which key, and which profile says so. */
export interface Settings {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly profileName: string;
  readonly profile: Profile;
}

/**
 * Finds the address and the key: option, environment, project file, user file. An option `--profile` brings both.
 *
 * @throws CliError for a key of a profile or the environment that would be sent to an address from a project file
 */
export async function settingsOf(io: Io, globals: Globals): Promise<Settings> {
  const project = readProject(io.folder);
  const { current, profiles } = readUserConfig(userFile(io));
  const { BEHEST_URL, BEHEST_API_KEY, BEHEST_PROFILE } = io.env;
  const profileName = globals.profile ?? (BEHEST_PROFILE || undefined) ?? project?.profile ?? current;
  const profile = profiles[profileName] ?? {};
  if (!profiles[profileName] && (globals.profile ?? BEHEST_PROFILE)) throw noProfile(profileName);

  const ofProfile = globals.profile === undefined ? undefined : profile;
  const chosenKey = (await optionKey(io, globals)) ?? ofProfile?.apiKey;
  const keptKey = (BEHEST_API_KEY || undefined) ?? profile.apiKey;
  const givenUrl = globals.url ?? ofProfile?.baseUrl ?? (BEHEST_URL || undefined);
  const url = givenUrl ?? project?.url ?? profile.baseUrl ?? DEFAULT_URL;
  const isOfProject = givenUrl === undefined && project?.url !== undefined;
  if (isOfProject && chosenKey === undefined && keptKey && originOf(url) !== originOf(profile.baseUrl)) {
    throw new CliError(
      'CONFIGURATION',
      `${project.file} names ${url}, and the key of ${BEHEST_API_KEY ? 'BEHEST_API_KEY' : `profile "${profileName}"`} is for ${profile.baseUrl ?? DEFAULT_URL}. A key is not sent to an address that a project chose.`,
      {
        exitCode: EXIT.unauthenticated,
        next: BEHEST_API_KEY
          ? `BEHEST_URL=${url}`
          : `behest config set --profile <name> --url ${url} --key -`,
      },
    );
  }
  return { url, apiKey: chosenKey ?? keptKey, profileName, profile };
}

const originOf = (url = DEFAULT_URL) => (URL.canParse(url) ? new URL(url).origin : url);

const noProfile = (name: string) =>
  new CliError('CONFIGURATION', `There is no profile "${name}".`, {
    exitCode: EXIT.unauthenticated,
    next: 'behest config list',
  });

async function optionKey(
  io: Io,
  { apiKeyFile, apiKeyEnv, apiKeyStdin }: Globals,
): Promise<string | undefined> {
  const given = [apiKeyFile, apiKeyEnv, apiKeyStdin || undefined].filter((each) => each !== undefined);
  if (given.length > 1) throw wrongUsage('Give one of --api-key-file, --api-key-stdin and --api-key-env.');
  if (apiKeyStdin) return keyIn(await io.input(), 'standard input');
  if (apiKeyFile !== undefined) return keyIn(readText(apiKeyFile), apiKeyFile);
  return apiKeyEnv === undefined ? undefined : keyIn(io.env[apiKeyEnv] ?? '', apiKeyEnv);
}

/** @throws CliError for a text that is no key, without the text */
export function keyIn(text: string, place: string): string {
  const key = text.trim();
  if (!key || /\s/.test(key)) throw wrongUsage(`${place} has to hold one API key, and nothing else.`);
  return key;
}

/** @throws CliError for a file that cannot be read */
export const readText = (file: string): string => readBytes(file).toString('utf8');

/** @throws CliError for a file that cannot be read */
export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw wrongUsage(`${file} cannot be read: ${error instanceof Error ? error.message : error}.`);
  }
}

/** A key as it may be shown: `bh_live_…abcd`. */
export function masked(key: string): string {
  const [start = ''] = /^bh_[a-z]+_/.exec(key) ?? [];
  return key.length > start.length + 12 ? `${start}…${key.slice(-4)}` : '…';
}

interface ProjectConfig {
  readonly file: string;
  readonly url?: string;
  readonly profile?: string;
  readonly manifests?: readonly string[];
}

/** Finds `behest.json` in a folder or the nearest one above it. @throws CliError for one that holds a key */
export function readProject(folder: string): ProjectConfig | undefined {
  const file = join(folder, 'behest.json');
  if (!existsSync(file)) return dirname(folder) === folder ? undefined : readProject(dirname(folder));
  const { url, profile, manifests, ...rest } = readJsonFile(file);
  if ('apiKey' in rest) {
    throw new CliError(
      'CONFIGURATION',
      `${file} has an \`apiKey\`: project files are shared, and keys are not.`,
      {
        next: 'behest config set --key -',
      },
    );
  }
  const paths = [manifests ?? []].flat().map(String);
  return {
    file,
    ...(typeof url === 'string' && { url }),
    ...(typeof profile === 'string' && { profile }),
    ...(manifests !== undefined && { manifests: paths.map((path) => join(dirname(file), path)) }),
  };
}
