import { keepProfile } from '../config/keep.ts';
import { masked } from '../config/settings.ts';
import { textOf } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

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
