import { CliError, EXIT } from '../errors.ts';
import type { CommandSpec } from '../program/spec.ts';
import { openPage } from '../system/pages.ts';

export const CONSOLE: readonly CommandSpec[] = [
  {
    name: 'console',
    summary: 'Open the console of the service in the browser',
    notes: 'The first sign-in asks for an API key with the role full. A service may have no console.',
    examples: ['behest console', 'behest --profile staging console'],
    async run(context) {
      const address = `${(await context.settings()).url.replace(/\/$/, '')}/console`;
      const answer = await context.exchange.fetchWith(undefined)(address, {
        ...{ headers: { accept: 'text/html' }, redirect: 'manual' },
        signal: AbortSignal.timeout(context.globals.timeout ?? 10_000),
      });
      await answer.body?.cancel();
      if (answer.status >= 400)
        throw new CliError(
          'NO_CONSOLE',
          `This service has no console: ${address} answered ${answer.status}.`,
          {
            exitCode: answer.status < 500 ? EXIT.notFound : EXIT.unavailable,
            next: 'behest --help',
          },
        );
      await openPage(context, address);
    },
  },
];
