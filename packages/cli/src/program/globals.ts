import { wrongUsage } from '../errors.ts';
import type { OptionSpec } from './spec.ts';

export const OUTPUTS = ['table', 'json', 'ndjson', 'yaml', 'id'] as const;
export type Output = (typeof OUTPUTS)[number];

/** Options of every command, before it or behind it. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: '-o, --output <format>', about: 'table, json, ndjson, yaml or id', choices: OUTPUTS },
  { flags: '--json', about: 'the same as --output json' },
  { flags: '--profile <name>', about: 'a profile of the configuration' },
  { flags: '--url <url>', about: 'the address of the service' },
  { flags: '--api-key-file <file>', about: 'read the API key from a file' },
  { flags: '--api-key-stdin', about: 'read the API key from standard input' },
  { flags: '--api-key-env <name>', about: 'read the API key from a variable' },
  { flags: '-q, --quiet', about: 'print results and errors only' },
  { flags: '-v, --verbose', about: 'print a line for each request' },
  { flags: '--debug', about: 'print headers too, without credentials' },
  { flags: '--no-color', about: 'print without colour' },
  { flags: '--no-input', about: 'never ask' },
  { flags: '-y, --yes', about: 'do not ask before deleting or revoking' },
  { flags: '--timeout <seconds>', about: 'for each attempt of a request' },
  { flags: '--retries <count>', about: 'how often a request is repeated where that is safe' },
  { flags: '--dry-run', about: 'print the request as curl, and send nothing' },
  { flags: '--utc', about: 'print times in UTC' },
];

export interface Globals {
  readonly output: Output;
  readonly profile?: string;
  readonly url?: string;
  readonly apiKeyFile?: string;
  readonly apiKeyEnv?: string;
  readonly apiKeyStdin: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  readonly isDebug: boolean;
  readonly hasColor: boolean;
  readonly mayAsk: boolean;
  readonly isSure: boolean;
  readonly isDry: boolean;
  readonly isUtc: boolean;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly retries?: number;
}

/** Reads the global options. Those behind the command win over those before it. */
export function globalsOf(given: Readonly<Record<string, unknown>>): Globals {
  const text = (name: string) => (typeof given[name] === 'string' ? { [name]: given[name] } : {});
  const { json, output = json === true ? 'json' : 'table', timeout, retries } = given;
  return {
    ...{ ...text('profile'), ...text('url'), ...text('apiKeyFile'), ...text('apiKeyEnv') },
    output: OUTPUTS.find((each) => each === output) ?? 'table',
    apiKeyStdin: given.apiKeyStdin === true,
    isQuiet: given.quiet === true,
    isVerbose: given.verbose === true || given.debug === true,
    isDebug: given.debug === true,
    hasColor: given.color !== false,
    mayAsk: given.input !== false,
    isSure: given.yes === true,
    isDry: given.dryRun === true,
    isUtc: given.utc === true,
    ...(timeout !== undefined && { timeout: 1_000 * numberOf('--timeout', timeout, 0.001, 2_147_483) }),
    ...(retries !== undefined && { retries: numberOf('--retries', retries, 0, 10) }),
  };
}

function numberOf(flag: string, value: unknown, least: number, most: number): number {
  const number = Number(value);
  if (value !== '' && number >= least && number <= most) return number;
  throw wrongUsage(`${flag} has to be a number from ${least} to ${most}, and is "${value}".`);
}
