import { BODY_OPTION, membersOf, optionsOf } from '../api/fields.ts';
import { rowOf } from '../api/specs.ts';
import { keyIn, masked } from '../config/settings.ts';
import { keepProfile } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, textOf } from '../program/spec.ts';

export const SIGNUP: readonly CommandSpec[] = [
  {
    name: 'signup',
    summary: 'Open an account, and keep its key in a profile',
    operation: 'developers.signUp',
    examples: [
      'behest signup --name Acme --mode sandbox',
      'behest --profile staging --url https://auth.example.com signup --name Acme',
    ],
    options: [
      { flags: '--name <name>', about: 'the name that people see', isRequired: true },
      { flags: '--email <address>', about: 'an address, which is verified by a link' },
      {
        flags: '--mode <mode>',
        about: 'sandbox accounts need no consent of people',
        choices: ['live', 'sandbox'],
      },
    ],
    async run(context, given) {
      const { url, profileName, profile } = await context.settings();
      const { Behest } = await import('@behest/sdk');
      const [name = '', email, mode] = ['name', 'email', 'mode'].map((each) => textOf(given, each));
      const account = {
        name,
        ...(email !== undefined && { email }),
        ...(mode !== undefined && { mode: mode === 'live' ? ('live' as const) : ('sandbox' as const) }),
      };
      if (profile.apiKey)
        await context.confirm(`Replace the key of profile "${profileName}", which is kept nowhere else?`);
      const answer = await Behest.signup(account, {
        baseUrl: url,
        fetch: context.exchange.fetchWith(undefined),
      });
      const { apiKey, developerId } = answer;
      keepProfile(context.io, profileName, { baseUrl: url, apiKey, developerId });
      const isTable = context.globals.output === 'table';
      await context.one(isTable ? { ...answer, apiKey: masked(apiKey) } : answer);
      context.note(`The key is saved in profile "${profileName}".${isTable ? '' : ' apiKey: shown once'}`);
    },
  },
];

const SETTINGS = rowOf('developers.change').body ?? [];

export const ME: readonly CommandSpec[] = [
  {
    name: 'me',
    summary: 'Show the account of the key',
    examples: ['behest me', 'behest me --json'],
    operation: 'developers.me',
    run: async (context) => context.one(await (await context.client()).me()),
  },
  {
    name: 'me update',
    summary: 'Change the settings of the account',
    examples: ['behest me update --manifest-pinning warn', 'behest me update -f settings.yaml'],
    operation: 'developers.change',
    options: [...SETTINGS.flatMap(optionsOf), BODY_OPTION],
    async run(context, given) {
      const settings = await membersOf(context, given, SETTINGS, true);
      if (Object.keys(settings).length === 0) throw wrongUsage('Give at least one setting.', context.help);
      await context.one(await (await context.client()).updateSettings(settings));
    },
  },
];

export const LOGIN: readonly CommandSpec[] = [
  {
    name: 'login',
    summary: 'Check an API key at the service, and keep it in a profile',
    notes: 'At a terminal it asks for the key and does not show it. `behest signup` opens an account.',
    operation: 'developers.me',
    examples: ['behest login', 'behest --profile staging --url https://auth.example.com login --key -'],
    options: [{ flags: '--key <key>', about: 'the API key, or - to read it from standard input' }],
    run: login,
  },
];

export const WHOAMI: readonly CommandSpec[] = [
  {
    name: 'whoami',
    summary: 'Show which account, at which service, the commands act for',
    operation: 'developers.me',
    examples: ['behest whoami', 'behest --profile staging whoami --json'],
    async run(context) {
      const { url, apiKey, profileName } = await context.settings();
      const { name, developerId, mode, plan } = await (await context.client()).me();
      const key = apiKey === undefined ? '' : masked(apiKey);
      await context.one({ name, developerId, mode, plan, url, profile: profileName, key });
    },
  },
];

/** Keeps the key only after the service has taken it. */
async function login(context: Context, given: Given): Promise<void> {
  const { url, profileName, profile } = await context.settings();
  const { Behest } = await import('@behest/sdk');
  const apiKey = await givenKey(context, given);
  const service = new Behest({ apiKey, baseUrl: url, fetch: context.exchange.fetchWith(undefined) });
  const { name, developerId, mode } = await service.me();
  if (profile.apiKey !== undefined && profile.apiKey !== apiKey)
    await context.confirm(`Replace the key ${masked(profile.apiKey)} of profile "${profileName}"?`);
  keepProfile(context.io, profileName, { baseUrl: url, apiKey, developerId });
  await context.one({ name, developerId, mode, url, profile: profileName, key: masked(apiKey) });
}

async function givenKey({ io, globals, help }: Context, given: Given): Promise<string> {
  const key = textOf(given, 'key');
  if (key === '-') return keyIn(await io.input(), 'standard input');
  if (key !== undefined) return keyIn(key, '--key');
  if (!io.isTerminal.input || !globals.mayAsk)
    throw wrongUsage('Give --key - and the API key on standard input.', help);
  return keyIn(await io.ask('API key: ', { isHidden: true }), 'The answer');
}
