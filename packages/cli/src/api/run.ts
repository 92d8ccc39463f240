import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type Given, isSet, type OptionSpec, textOf } from '../program/spec.ts';
import { secretOf, tokenOf } from '../secrets.ts';
import { membersOf } from './fields.ts';
import type { Naming } from './naming.ts';
import type { Field, OperationRow } from './rows.ts';

export const FILE_OPTION: OptionSpec = {
  flags: '--out <file>',
  about: 'write the answer to a new file, which only you can read',
};

/** Prints the answer of a call, or writes it to a file. */
async function saveAnswer(
  context: Context,
  given: Given,
  answer: unknown,
  { once, columns, rows }: Naming = {},
): Promise<void> {
  const out = textOf(given, 'out');
  if (out !== undefined) {
    const bytes =
      answer instanceof Response
        ? Buffer.from(await answer.arrayBuffer())
        : `${JSON.stringify(answer, undefined, 2)}\n`;
    writeNewFile(context, out, bytes);
    return context.note(`wrote ${out}`);
  }
  if (answer instanceof Response) return context.io.out(await answer.text());
  if (answer === undefined || answer === null) return context.note('done');
  const listed = rows !== undefined && isRecord(answer) ? answer[rows] : undefined;
  if (Array.isArray(listed)) return context.rows(listed, { columns });
  const [only, ...others] = isRecord(answer) ? Object.values(answer).filter(Array.isArray) : [];
  const isList =
    isRecord(answer) && Array.isArray(only) && others.length === 0 && Object.keys(answer).length === 1;
  if (isList) return context.rows(only, { columns });
  await context.one(answer, { columns });
  if (once !== undefined && isRecord(answer) && once in answer) context.note(`${once}: shown once`);
}

/** @throws CliError for a file that is there already */
export function writeNewFile(context: Context, file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(resolve(context.io.folder, file), content, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const isThere = Object(error).code === 'EEXIST';
    throw wrongUsage(
      isThere ? `${file} is there already.` : `${file} cannot be written: ${Object(error).code}.`,
      context.help,
    );
  }
}

/** Members that are the token a command is about. They come from the places of tokens, and not from an option. */
const TOKENS = ['token', 'credential', 'passport', 'authorization'];

export const isToken = (name: string) => TOKENS.includes(name);

interface TokenPlace {
  /** True where the command takes a token. */
  readonly isTaken: boolean;
  /** True where the token may be the first argument. A command that takes an id keeps its arguments for that. */
  readonly isArgument: boolean;
  /** The member of the body that holds the token, where the method has no argument of its own for it. */
  readonly member: string | undefined;
}

export function tokenPlace({ as, first, path, body = [] }: OperationRow): TokenPlace {
  const member = body.find(({ name, required }) => required && isToken(name))?.name;
  const isTaken = as === 'grant' || first.some(isToken) || member !== undefined;
  return { isTaken, isArgument: isTaken && path.length === 0, member };
}

export const LIST_OPTIONS: readonly OptionSpec[] = [
  { flags: '--limit <n>', about: 'print so many rows at most' },
  { flags: '--all', about: 'print the rows of all pages, as JSON does without --limit' },
];

/** Members of a query that `--limit` and `--all` stand for. */
export const isOfPaging = (name: string) => name === 'limit' || name === 'cursor';

type Page = AsyncIterable<unknown> & Promise<unknown>;

/**
 * Gets the rows of a list: all of them, or as many as `--limit` says. A table without either has one page.
 *
 * @param ask gets a page and those after it
 */
async function rowsOf(
  context: Context,
  given: Given,
  { rows, most }: { readonly rows: string; readonly most: number },
  ask: (query: object) => Page,
): Promise<unknown[]> {
  const limit = limitOf(context, given);
  if (limit === undefined && context.globals.output === 'table' && !isSet(given, 'all')) {
    const page = Object(await ask({}));
    if (page.nextCursor) context.note('There are more: --all prints every page.');
    return page[rows];
  }
  const found: unknown[] = [];
  for await (const row of ask({ limit: Math.min(limit ?? most, most) })) {
    found.push(row);
    if (found.length === limit) break;
  }
  return found;
}

function limitOf(context: Context, given: Given): number | undefined {
  const text = textOf(given, 'limit');
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw wrongUsage(`--limit has to be a whole number above 0, and is "${text}".`, context.help);
}

/** The most rows that a page may have. */
const mostOf = (query: readonly Field[] = []) => query.find(({ name }) => name === 'limit')?.most ?? 100;

/**
 * Calls the operation of a row with what the command was given, and prints the answer.
 *
 * @returns the exit code: 1 for the answer no
 */
export async function runRow(
  context: Context,
  given: Given,
  row: OperationRow,
  naming: Naming,
): Promise<number> {
  const { sends, as, body, query, rows, first, path } = row;
  const isEnding = sends.startsWith('DELETE') || /(^| )(revoke|close)$/.test(context.command) || naming.asks;
  const { isTaken, isArgument, member } = tokenPlace(row);
  const positional = [...given.args];
  const token = isTaken
    ? await tokenOf(context, given, isArgument ? positional.shift() : undefined)
    : undefined;
  const inPath = path.map(() => positional.shift());
  const ahead = first.map((each) => (isToken(each) ? token : positional.shift()));
  const inBody = body && {
    ...(await membersOf(
      context,
      given,
      body.filter(({ name }) => name !== member),
      true,
    )),
    ...(member !== undefined && { [member]: token }),
  };
  const inQuery =
    query &&
    (await membersOf(
      context,
      given,
      query.filter(({ name }) => !(rows && isOfPaging(name))),
      false,
    ));
  const scimToken = as === 'scim' ? await secretOf(context, given, 'scimToken') : undefined;
  const session = as === 'session' ? await secretOf(context, given, 'sessionToken') : undefined;
  if (isEnding)
    await context.confirm(`${row.summary}: ${[...inPath, ...ahead].join(' ') || 'this account'}?`);

  const client = await clientFor(context, given, as, session ?? scimToken);
  const holder: unknown =
    session === undefined || !('principal' in client) ? client : { principal: client.principal(session) };
  const call = (more: object) =>
    methodOf(holder, row.method)(
      ...(as === 'grant' ? [token] : []),
      ...[...inPath, ...ahead],
      ...(inBody ? [inBody] : []),
      ...(inQuery ? [{ ...inQuery, ...more }] : []),
      { ...(scimToken !== undefined && { scimToken }) },
    );
  if (rows !== undefined) {
    // The method of a row with `rows` answers a list.
    const ask = (more: object) => call(more) as AsyncIterable<unknown> & Promise<unknown>;
    const found = await rowsOf(context, given, { rows, most: mostOf(query) }, ask);
    await context.rows(found, { columns: naming.columns });
    return EXIT.done;
  }
  const answer = await call({});
  await saveAnswer(context, given, answer, naming);
  return naming.verdict !== undefined && isNo(answer, naming.verdict) ? EXIT.no : EXIT.done;
}

/** The client with the credential of a row. A token of the call itself needs no API key beside it. */
async function clientFor(context: Context, given: Given, as: string | undefined, token: string | undefined) {
  if (as === 'nobody' || as === 'grant' || token !== undefined) return context.openClient();
  if (as !== 'operator') return context.client();
  const adminKey = await secretOf(context, given, 'adminKey');
  if (adminKey === undefined)
    throw wrongUsage('Give one of: --admin-key-file, --admin-key-stdin, --admin-key-env.', context.help);
  const { url } = await context.settings();
  const { BehestAdmin } = await import('@behest/sdk');
  return new BehestAdmin({ adminKey, baseUrl: url, fetch: context.exchange.fetchWith(adminKey) });
}

/** Finds a method of the client by its name. */
function methodOf(client: unknown, name: string): (...args: unknown[]) => unknown {
  const [area = '', own] = name.split('.');
  const holder = Reflect.get(Object(client), area);
  const method: unknown = own === undefined ? holder : Reflect.get(Object(holder), own);
  if (typeof method !== 'function') throw new TypeError(`The SDK has no ${name}.`);
  return (...args) => method.apply(holder, args);
}

/** Several questions have several answers, and one no among them is enough. */
function isNo(answer: unknown, verdict: string): boolean {
  const { evaluations = [answer] } = Object(answer);
  return [evaluations].flat().some((each: unknown) => Object(each)[verdict] !== true);
}
