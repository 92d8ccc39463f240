import { keepProfile } from '../config/keep.ts';
import { keyIn, masked } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import { type Given, textOf } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

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
