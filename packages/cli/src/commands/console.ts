import { isSet, textOf } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';
import { openPage } from '../system/pages.ts';

export const CONSOLE: readonly CommandSpec[] = [
  {
    name: 'console',
    summary: 'Open the console in the browser, signed in by a link that works once',
    operation: 'console.createLink',
    notes:
      'It needs a full key. A live account that has members takes no key: sign in with your passkey there.',
    examples: ['behest console', 'behest console --print'],
    options: [
      { flags: '--print', about: 'print the link, and open nothing' },
      { flags: '--name <name>', about: 'your name, the first time' },
      { flags: '--email <address>', about: 'your address: that of the member whom the link signs in' },
    ],
    async run(context, given) {
      const [displayName, email] = [textOf(given, 'name'), textOf(given, 'email')];
      const answer = await (await context.client()).console.createLink({
        ...(displayName !== undefined && { displayName }),
        ...(email !== undefined && { email }),
      });
      if (context.globals.output !== 'table') return context.one(answer);
      if (isSet(given, 'print')) return context.line(answer.url);
      await openPage(context, answer.url);
    },
  },
];
