import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import { type Given, isSet, type OptionSpec, textOf } from '../program/options.ts';
import type { Field } from './rows.ts';

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
export async function rowsOf(
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
export const mostOf = (query: readonly Field[] = []) =>
  query.find(({ name }) => name === 'limit')?.most ?? 100;
