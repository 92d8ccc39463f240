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
];
