import { keyIn, masked } from '../config/settings.ts';
import { keepProfile, type Profile, readUserConfig, userFile, writeUserConfig } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, textOf } from '../program/spec.ts';

export const CONFIG: readonly CommandSpec[] = [
  {
    name: 'config set',
    isLocal: true,
    summary: 'Set the address or the key of a profile',
    examples: [
      'behest config set --url https://auth.example.com --key -',
      'behest --profile staging config set --key -',
    ],
    options: [
      { flags: '--url <url>', about: 'the address of the service' },
      { flags: '--key <key>', about: 'the API key, or - to read it from standard input' },
      { flags: '--consent-key-file <file>', about: 'the private key that signs consent tickets' },
    ],
    run: setProfile,
  },
  {
    name: 'config show',
    summary: 'Show the settings that a command would use',
    examples: ['behest config show', 'behest config show --reveal'],
    options: [{ flags: '--reveal', about: 'show the whole key' }],
    run: showSettings,
  },
  {
    name: 'config path',
    summary: 'Show the file that keeps the profiles',
    examples: ['behest config path'],
    run: async (context) => context.line(userFile(context.io)),
  },
  {
    name: 'config use',
    isLocal: true,
    summary: 'Choose the profile that commands use',
    args: [{ name: 'profile', about: 'its name' }],
    examples: ['behest config use staging'],
    async run(context, { args: [name = ''] }) {
      const { file, config } = configOf(context);
      mustHave(config.profiles, name);
      writeUserConfig(file, { ...config, current: name });
      context.note(`Commands now use profile "${name}".`);
    },
  },
  {
    name: 'config list',
    summary: 'List the profiles',
    examples: ['behest config list'],
    async run(context) {
      const { config } = configOf(context);
      const rows = Object.entries(config.profiles).map(([name, { baseUrl, apiKey }]) => ({
        ...{ name, current: name === config.current, url: baseUrl ?? '' },
        key: apiKey ? masked(apiKey) : '',
      }));
      await context.rows(rows, { columns: ['name', 'current', 'url', 'key'] });
    },
  },
  {
    name: 'config unset',
    isLocal: true,
    summary: 'Remove a profile, or its key alone',
    examples: ['behest config unset --profile staging --yes', 'behest config unset --key'],
    options: [{ flags: '--key', about: 'remove the key, and keep the address' }],
    run: unsetProfile,
  },
];

const configOf = ({ io }: Context) => {
  const file = userFile(io);
  return { file, config: readUserConfig(file) };
};

const chosenProfile = (context: Context, current: string) =>
  context.globals.profile ?? (context.io.env.BEHEST_PROFILE || undefined) ?? current;

async function setProfile(context: Context, given: Given): Promise<void> {
  const [url, key, consentKeyFile] = ['url', 'key', 'consentKeyFile'].map((name) => textOf(given, name));
  if ((url ?? key ?? consentKeyFile) === undefined)
    throw wrongUsage('Give --url, --key or both.', context.help);
  if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw wrongUsage(`--url has to begin with https:// or http://, and is "${url}".`, context.help);
  const apiKey = key === '-' ? await context.io.input() : key;
  const { config } = configOf(context);
  const name = chosenProfile(context, config.current);
  keepProfile(context.io, name, {
    ...(url !== undefined && { baseUrl: url }),
    ...(apiKey !== undefined && {
      apiKey: keyIn(apiKey, key === '-' ? 'standard input' : '--key'),
      developerId: undefined,
    }),
    ...(consentKeyFile !== undefined && { consentKeyFile }),
  });
  context.note(`Profile "${name}" is saved.`);
}

async function showSettings(context: Context, given: Given): Promise<void> {
  const { url, apiKey, profileName } = await context.settings();
  const key = apiKey === undefined ? '' : isSet(given, 'reveal') ? apiKey : masked(apiKey);
  await context.one({ profile: profileName, url, key, file: userFile(context.io) });
}

async function unsetProfile(context: Context, given: Given): Promise<void> {
  const { file, config } = configOf(context);
  const name = chosenProfile(context, config.current);
  const profile = mustHave(config.profiles, name);
  if (isSet(given, 'key'))
    return keepProfile(context.io, name, { ...profile, apiKey: undefined, developerId: undefined });
  await context.confirm(`Remove profile "${name}"?`);
  const profiles = Object.fromEntries(Object.entries(config.profiles).filter(([other]) => other !== name));
  const current = config.current === name ? (Object.keys(profiles)[0] ?? 'default') : config.current;
  writeUserConfig(file, { current, profiles });
  context.note(`Profile "${name}" is removed.`);
}

function mustHave(profiles: Readonly<Record<string, Profile>>, name: string): Profile {
  const profile = profiles[name];
  if (profile) return profile;
  throw new CliError('CONFIGURATION', `There is no profile "${name}".`, {
    exitCode: EXIT.usage,
    next: 'behest config list',
  });
}
