import type { Behest } from '@behest/sdk';
import { type Settings, settingsOf } from './config/settings.ts';
import { CliError, EXIT, wrongUsage } from './errors.ts';
import type { Io } from './io.ts';
import { type Printer, printerOf } from './output/printer.ts';
import type { Globals } from './program/globals.ts';
import type { OptionSpec } from './program/options.ts';
import { type Exchange, exchangeOf } from './requests.ts';

/** Loads every command, to be listed. */
export type AllCommands = () => Promise<readonly Listed[]>;

/** A command as a list of commands has it. */
export interface Listed {
  readonly name: string;
  readonly options?: readonly OptionSpec[];
}

/** All that a command needs beside its own arguments. */
export interface Context extends Printer {
  readonly io: Io;
  readonly globals: Globals;
  /** The words of the command. */
  readonly command: string;
  /** The command that shows its help. */
  readonly help: string;
  readonly exchange: Exchange;
  /** Every command of the program. */
  readonly commands: AllCommands;
  settings(): Promise<Settings>;
  /** @throws CliError without an API key */
  client(): Promise<Behest>;
  /** A client that may have no key, for routes that need none. */
  openClient(): Promise<Behest>;
  /** Asks before something ends. @throws CliError when there is nobody to ask, and `--yes` is not there */
  confirm(question: string): Promise<void>;
}

interface Setting {
  readonly command: string;
  readonly commands: AllCommands;
  /** True where the first request is printed, and not sent. */
  readonly isDry: boolean;
}

export function contextOf(io: Io, globals: Globals, { command, commands, isDry }: Setting): Context {
  const exchange = exchangeOf(io, { ...globals, isDry });
  const help = `behest ${command} --help`;
  let settings: Promise<Settings> | undefined;
  const known = () => {
    settings ??= settingsOf(io, globals);
    return settings;
  };
  const clientWith = async (key: string | undefined): Promise<Behest> => {
    const { url, profile } = await known();
    const { Behest } = await import('@behest/sdk');
    return new Behest({
      ...{ apiKey: key ?? null, baseUrl: url, fetch: exchange.fetchWith(key) },
      ...(globals.timeout !== undefined && { timeout: globals.timeout }),
      ...(globals.isDry
        ? { maxRetries: 0 }
        : globals.retries !== undefined && { maxRetries: globals.retries }),
      ...(key === undefined && { developerId: profile.developerId ?? 'unknown' }),
      userAgent: '@behest/cli/0.6.0',
    });
  };
  return {
    ...{ io, globals, command, commands, help, exchange, settings: known },
    ...printerOf(io, globals),
    async client() {
      const { apiKey } = await known();
      const key = apiKey ?? (isDry ? 'bh_test_of_a_dry_run' : undefined);
      if (key !== undefined) return clientWith(key);
      throw new CliError('UNAUTHENTICATED', 'There is no API key.', {
        exitCode: EXIT.unauthenticated,
        next: 'behest config set --url <url> --key -   (or behest signup, behest dev)',
      });
    },
    openClient: async () => clientWith((await known()).apiKey),
    async confirm(question) {
      if (globals.isSure || globals.isDry) return;
      if (!io.isTerminal.input || !globals.mayAsk)
        throw wrongUsage(`${question} Nobody can be asked here: repeat the command with --yes.`, help);
      const answer = await io.ask(`${question} [y/N] `);
      if (!/^y(es)?$/i.test(answer.trim()))
        throw new CliError('NOT_CONFIRMED', 'Nothing was done.', { next: `behest ${command} --yes` });
    },
  };
}
