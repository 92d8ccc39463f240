import { wrongUsage } from '../errors.ts';
import { isSet } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';

export const SSO: readonly CommandSpec[] = [
  {
    name: 'sso login-url',
    summary: "Show the address to which a person's browser goes to sign in",
    operation: 'sso.login',
    args: [
      { name: 'org', about: 'the organization' },
      {
        name: 'domain',
        about: 'the domain of the person, where the organization has several',
        isOptional: true,
      },
    ],
    examples: ['behest sso login-url acme'],
    run: async (context, { args: [org = '', domain] }) =>
      context.one(await (await context.openClient()).sso.getLoginUrl(org, domain)),
  },
  {
    name: 'sso enforce',
    summary: 'Enforce single sign-on, or stop enforcing it',
    operation: 'sso.enforce',
    examples: ['behest sso enforce --enable', 'behest sso enforce --disable'],
    options: [
      { flags: '--enable', about: 'people sign in at their identity provider, and nowhere else' },
      { flags: '--disable', about: 'people may prove themselves in other ways too' },
    ],
    async run(context, given) {
      const enforce = isSet(given, 'enable');
      if (enforce === isSet(given, 'disable'))
        throw wrongUsage('Give one of: --enable, --disable.', context.help);
      await context.one(await (await context.client()).sso.setEnforcement({ enforce }));
    },
  },
];
