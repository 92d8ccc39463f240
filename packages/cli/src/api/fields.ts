import { resolve } from 'node:path';
import { readBytes, readText } from '../config/settings.ts';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import { type Given, listOf, type OptionSpec, textOf } from '../program/spec.ts';
import { flagOf, secretOf, secretOptions } from '../secrets.ts';
import type { Field } from './rows.ts';

/** Members that no command line may hold. */
const SECRETS = new Set(
  'accessToken refreshToken grantToken parentGrantToken clientSecret ldapBindPassword password codeVerifier credential sdJwt'.split(
    ' ',
  ),
);
/** Members that have a shorter option too, or another one. */
const SHORT: Readonly<Record<string, string>> = {
  agentId: 'agent',
  agentIds: 'agents',
  principalId: 'principal',
  authorizationDetails: 'details',
  subAgentId: 'agent-id',
  parentGrantToken: 'grant-token',
  caseId: 'case',
};

/** Members in base64, whose bytes a command line names by their file. */
const FILES = new Set(['logo']);

/** Members of any shape, because a decision is what answers a wrong one. A command line gives them as text. */
const TEXTS = new Set(['amount', 'caseId']);

const typeOf = ({ name, type }: Field) => (type === 'json' && TEXTS.has(name) ? 'string' : type);

/** The option of a file with the whole body. */
export const BODY_OPTION: OptionSpec = {
  flags: '-f, --body <file>',
  about: 'read the body from a file of JSON or YAML, or - for standard input; options win over it',
};

/** Makes the options of a member. */
export function optionsOf(field: Field): OptionSpec[] {
  const { name, required, about, values } = field;
  const type = typeOf(field);
  const flag = flagOf(name);
  const short = SHORT[name];
  const words = `${about ?? wordsOf(name)}${required ? ' (required)' : ''}`;
  if (SECRETS.has(name)) return secretOptions(short ?? flag, `the ${wordsOf(name)}`);
  const long = short === undefined || short === flag ? `--${flag}` : `--${short}, --${flag}`;
  const value = {
    list: 'a,b',
    json: 'file',
    boolean: 'true|false',
    integer: 'n',
    number: 'n',
    string: FILES.has(name) ? 'file' : 'text',
  }[type];
  return [
    {
      flags: `${long} <${value}>`,
      about: words,
      ...(type === 'boolean' && { choices: ['true', 'false'] }),
      ...(values && type === 'string' && { choices: values }),
    },
  ];
}

const wordsOf = (name: string) => flagOf(name).replaceAll('-', ' ');

/**
 * Reads the members that were given.
 *
 * @throws CliError for a value of a wrong type, or a required member that is missing
 */
export async function membersOf(context: Context, given: Given, fields: readonly Field[], isBody: boolean) {
  const members: Record<string, unknown> = isBody ? { ...(await bodyFile(context, given)) } : {};
  for (const field of fields) {
    const { name } = field;
    if (SECRETS.has(name)) {
      const secret = await secretOf(context, given, camelOf(SHORT[name] ?? name));
      if (secret !== undefined) members[name] = secret;
      continue;
    }
    const text = textOf(given, camelOf(flagOf(name)));
    if (text !== undefined) members[name] = await readValue(context, field, text);
  }
  const missing = fields.filter(({ name, required }) => required && members[name] === undefined);
  if (missing.length === 0) return members;
  const flags = missing.map(({ name }) =>
    SECRETS.has(name) ? `--${SHORT[name] ?? flagOf(name)}-file` : `--${SHORT[name] ?? flagOf(name)}`,
  );
  throw wrongUsage(`${flags.join(', ')} ${flags.length === 1 ? 'is' : 'are'} missing.`, context.help);
}

/** The name under which commander keeps an option. */
const camelOf = (flag: string) =>
  flag.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

async function bodyFile(context: Context, given: Given): Promise<Readonly<Record<string, unknown>>> {
  const file = textOf(given, 'body');
  if (file === undefined) return {};
  const value = await dataIn(context, file);
  if (isRecord(value)) return value;
  throw wrongUsage(`${file} has to hold an object.`, context.help);
}

/** Reads a file of JSON or YAML, or standard input. @throws CliError for a text that is neither */
export async function dataIn(context: Context, file: string): Promise<unknown> {
  const text = file === '-' ? await context.io.input() : readText(resolve(context.io.folder, file));
  const { parse } = await import('yaml'); // JSON is YAML
  try {
    return parse(text);
  } catch (error) {
    const [fault] = String(error instanceof Error ? error.message : error).split('\n');
    throw wrongUsage(
      `${file === '-' ? 'Standard input' : file} is neither JSON nor YAML: ${fault}`,
      context.help,
    );
  }
}

async function readValue(context: Context, field: Field, text: string): Promise<unknown> {
  const { name } = field;
  const type = typeOf(field);
  if (FILES.has(name)) return readBytes(resolve(context.io.folder, text)).toString('base64');
  if (type === 'string') return text;
  if (type === 'list') return listOf(text);
  if (type === 'boolean') return text === 'true';
  if (type === 'json') return /^\s*[[{]/.test(text) ? inlineOf(context, name, text) : dataIn(context, text);
  const number = Number(text);
  // A number that a computer would round is refused, since it would be sent as another one.
  const isExact =
    /^-?\d+(\.\d+)?$/.test(text) &&
    Number.isFinite(number) &&
    text.replace(/[-.]/g, '').replace(/^0+/, '').length <= 15;
  if (isExact && (type === 'number' || Number.isInteger(number))) return number;
  throw wrongUsage(
    `--${flagOf(name)} has to be ${type === 'integer' ? 'a whole number' : 'a number'}, and is "${text}".`,
    context.help,
  );
}

function inlineOf(context: Context, name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrongUsage(`--${flagOf(name)} has to be JSON, or a file of JSON or YAML.`, context.help);
  }
}
