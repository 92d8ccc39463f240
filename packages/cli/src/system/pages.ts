import type { Context } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';
import { openInBrowser } from './browser.ts';

/** Opens a page, and says its address. A dry run says it alone. @throws CliError where no browser could be started */
export async function openPage(context: Context, address: string): Promise<void> {
  if (context.globals.isDry) return context.line(address);
  context.note(address);
  if (!(await openInBrowser(address)))
    throw new CliError('BROWSER', `No browser could be opened here. The address is ${address}`, {
      exitCode: EXIT.unavailable,
    });
}
