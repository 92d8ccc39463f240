import { homedir } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Behest } from '@behest/sdk';
import { masked, type Settings, settingsOf } from './config/settings.ts';
import { curlOf } from './curl.ts';
import { CliError, EXIT, wrongUsage } from './errors.ts';
import { idOf, tableOf } from './output/table.ts';
import type { Globals } from './program/globals.ts';
import type { OptionSpec } from './program/spec.ts';

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

/** The way of every request: told of, or printed in place of being sent. */
interface Exchange {
  fetchWith(key: string | undefined): (url: string, init: RequestInit) => Promise<Response>;
  /** True when a dry run has printed its request. */
  readonly isDone: () => boolean;
}

function exchangeOf(io: Io, { isDry, isVerbose, isDebug }: Globals): Exchange {
  let isDone = false;
  return {
    isDone: () => isDone,
    fetchWith: (key) => async (url, init) => {
      if (isDry) {
        io.out(`${curlOf(url, init, key)}\n`);
        isDone = true;
        const { BehestError } = await import('@behest/sdk');
        throw new BehestError('DRY_RUN', 'nothing is sent in a dry run'); // a stream tries again after other errors
      }
      const began = performance.now();
      const told = (words: string) => isVerbose && io.err(`${words}\n`);
      if (isDebug) told(headersOf(new Headers(init.headers), '>'));
      const answer = await io.fetch(url, withSignal(init, io.signal)).catch((error: unknown) => {
        told(`${init.method ?? 'GET'} ${url} failed after ${Math.round(performance.now() - began)} ms`);
        throw error;
      });
      told(`${init.method ?? 'GET'} ${url} ${answer.status} ${Math.round(performance.now() - began)} ms`);
      if (isDebug) told(headersOf(answer.headers, '<'));
      return answer;
    },
  };
}

const withSignal = (init: RequestInit, signal: AbortSignal): RequestInit => ({
  ...init,
  signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal,
});

function headersOf(headers: Headers, mark: string): string {
  return [...headers]
    .map(
      ([name, value]) =>
        `${mark} ${name}: ${/^(authorization|dpop|cookie|set-cookie)$/.test(name) ? hidden(value) : value}`,
    )
    .join('\n');
}

/** Hides what follows the scheme. */
function hidden(value: string): string {
  const begins = value.lastIndexOf(' ') + 1;
  return value.slice(0, begins) + masked(value.slice(begins));
}

interface View {
  /** The members that a table shows, in their order. Default: those that look important. */
  readonly columns?: readonly string[] | undefined;
}

/** Results go to standard output, and all else to standard error. */
interface Printer {
  /** Prints the rows of a list. */
  rows(rows: readonly unknown[], view?: View): Promise<void>;
  /** Prints one object. */
  one(value: unknown, view?: View): Promise<void>;
  /** Prints a line that is the result itself. */
  line(text: string): void;
  /** Tells the person something that is no result. */
  note(text: string): void;
}

function printerOf(io: Io, globals: Globals): Printer {
  const { output } = globals;
  const line = (text: string) => io.out(`${text}\n`);
  const lines = (texts: readonly string[]) => {
    for (const text of texts) line(text);
  };
  const note = (text: string) => {
    if (!globals.isQuiet) io.err(`${text}\n`);
  };
  const look = { isUtc: globals.isUtc };
  return {
    line,
    note,
    async rows(rows, { columns } = {}) {
      if (output === 'json') return line(JSON.stringify(rows, undefined, 2));
      if (output === 'ndjson') return lines(rows.map((row) => JSON.stringify(row)));
      if (output === 'yaml') return io.out(await yamlOf(rows));
      if (output === 'id') return lines(rows.map(idOf));
      if (rows.length === 0) return note('(no results)');
      line(tableOf(rows, { ...look, columns }));
    },
    async one(value, { columns } = {}) {
      if (output === 'json') return line(JSON.stringify(value, undefined, 2));
      if (output === 'ndjson') return line(JSON.stringify(value));
      if (output === 'yaml') return io.out(await yamlOf(value));
      if (output === 'id') return line(idOf(value));
      if (typeof value !== 'object' || value === null) return line(String(value));
      const entries = Object.entries(value)
        .filter(([name]) => !columns || columns.includes(name))
        .map(([field, member]) => ({ field, value: member }));
      line(tableOf(entries, { ...look, columns: ['field', 'value'] }));
    },
  };
}

async function yamlOf(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value);
}

/** The world around the program. Tests replace it. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly home: string;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly isTerminal: { readonly input: boolean; readonly output: boolean; readonly errors: boolean };
  /** Reads standard input to its end. */
  readonly input: () => Promise<string>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Asks the person at the terminal. A hidden answer, such as a key, is not shown while it is typed. */
  readonly ask: (question: string, how?: { readonly isHidden: boolean }) => Promise<string>;
  /** Opens an address in the person's browser. @returns false where no browser could be started */
  readonly browse: (address: string) => Promise<boolean>;
}

export function processIo(signal: AbortSignal): Io {
  return {
    // biome-ignore lint/style/noProcessEnv: the program reads its environment here alone
    env: process.env,
    folder: process.cwd(),
    home: homedir(),
    fetch: (...args) => fetch(...args),
    signal,
    isTerminal: {
      input: process.stdin.isTTY === true,
      output: process.stdout.isTTY === true,
      errors: process.stderr.isTTY === true,
    },
    input: async () => {
      const parts: Buffer[] = [];
      for await (const part of process.stdin) parts.push(Buffer.from(part));
      return Buffer.concat(parts).toString('utf8');
    },
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    ask: async (question, { isHidden } = { isHidden: false }) => {
      // `readline` itself writes what is typed, so a hidden answer needs an output that writes nothing.
      const output = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr;
      if (isHidden) process.stderr.write(question);
      const lines = createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY === true });
      try {
        return await lines.question(question, { signal });
      } finally {
        lines.close();
        if (isHidden) process.stderr.write('\n');
      }
    },
    browse: async (address) => (await import('./system/browser.ts')).openInBrowser(address),
  };
}
