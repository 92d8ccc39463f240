import type { Context } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';

/** Opens a page, and says its address. A dry run says it alone. @throws CliError where no browser could be started */
export async function openPage(context: Context, address: string): Promise<void> {
  if (context.globals.isDry) return context.line(address);
  context.note(address);
  if (!(await context.io.browse(address)))
    throw new CliError('BROWSER', `No browser could be opened here. The address is ${address}`, {
      exitCode: EXIT.unavailable,
      next: 'open the address in a browser of this machine',
    });
}

/**
 * Opens a page of the service that some services have, once it has answered.
 *
 * @param name the page, in words
 * @throws CliError where the service has no such page
 */
export async function openIfThere(context: Context, path: string, name: string): Promise<void> {
  const address = `${(await context.settings()).url.replace(/\/$/, '')}${path}`;
  const answer = await context.exchange.fetchWith(undefined)(address, {
    ...{ headers: { accept: 'text/html' }, redirect: 'manual' },
    signal: AbortSignal.timeout(context.globals.timeout ?? 10_000),
  });
  await answer.body?.cancel();
  if (answer.status < 400) return openPage(context, address);
  throw new CliError(
    `NO_${name.toUpperCase()}`,
    `This service has no ${name}: ${address} answered ${answer.status}.`,
    {
      exitCode: answer.status < 500 ? EXIT.notFound : EXIT.unavailable,
      next: 'behest --help',
    },
  );
}
