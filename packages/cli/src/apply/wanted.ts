import { dirname, join } from 'node:path';
import { dataIn } from '../api/fields.ts';
import { rowOf } from '../api/specs.ts';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';

export type Members = Readonly<Record<string, unknown>>;

export const KINDS = ['agents', 'manifests', 'webhooks', 'policies'] as const;
export type Kind = (typeof KINDS)[number];

/** The member by which a thing of the file is found at the service. */
export const NAMED_BY: Readonly<Record<Kind, string>> = {
  agents: 'name',
  manifests: 'connector',
  webhooks: 'url',
  policies: 'name',
};

export type Wanted = Readonly<Partial<Record<Kind, readonly Members[]>>>;

/** Reads what an account shall have. @throws CliError for a file that says something else, or the same thing twice */
export async function wantedIn(context: Context, file: string): Promise<Wanted> {
  const value = await dataIn(context, file);
  if (!isRecord(value)) throw wrongUsage(`${file} has to have some of: ${KINDS.join(', ')}.`, context.help);
  const unknown = Object.keys(value).filter((name) => !KINDS.some((kind) => kind === name));
  if (unknown.length > 0)
    throw wrongUsage(`${file} has ${unknown.join(', ')}. It may have: ${KINDS.join(', ')}.`, context.help);
  const lists = KINDS.filter((kind) => value[kind] !== undefined).map(
    async (kind): Promise<[Kind, Members[]]> => {
      const list = value[kind];
      if (!Array.isArray(list)) throw wrongUsage(`\`${kind}\` of ${file} has to be a list.`, context.help);
      const read = await Promise.all(
        list.map((each: unknown) => (kind === 'manifests' ? manifestOf(context, file, each) : each)),
      );
      const named = read.map((each) => mustBeNamed(context, kind, each));
      for (const each of named) mustBeKnown(context, kind, file, each);
      if (kind === 'manifests') {
        const { manifestFromObject } = await import('@behest/protocol/manifest/load');
        for (const each of named) manifestFromObject(each); // a fault is found before anything is changed
      }
      return [kind, named];
    },
  );
  const wanted = Object.fromEntries(await Promise.all(lists));
  for (const [kind, list] of await Promise.all(lists)) {
    const names = list.map((each) => each[NAMED_BY[kind]]);
    const repeated = names.find((name, at) => names.indexOf(name) !== at);
    if (repeated !== undefined)
      throw wrongUsage(`\`${kind}\` of ${file} has "${repeated}" twice.`, context.help);
  }
  return wanted;
}

/** A manifest stands in the file, or in a file of its own. */
async function manifestOf(context: Context, file: string, given: unknown): Promise<unknown> {
  return typeof given === 'string'
    ? dataIn(context, file === '-' ? given : join(dirname(file), given))
    : given;
}

function mustBeNamed(context: Context, kind: Kind, given: unknown): Members {
  if (isRecord(given) && typeof given[NAMED_BY[kind]] === 'string') return given;
  throw wrongUsage(`Each of \`${kind}\` has to have a text \`${NAMED_BY[kind]}\`.`, context.help);
}

/** The operations whose bodies have the members of each kind. A manifest is loaded instead. */
const MADE_BY: Readonly<Partial<Record<Kind, string>>> = {
  agents: 'agents.create',
  webhooks: 'webhooks.create',
  policies: 'policies.create',
};

/** A member that the service does not know would be a difference for ever. */
function mustBeKnown(context: Context, kind: Kind, file: string, given: Members): void {
  const operation = MADE_BY[kind];
  if (operation === undefined) return;
  const known = new Set(rowOf(operation).body?.map(({ name }) => name));
  const unknown = Object.keys(given).filter((member) => !known.has(member));
  if (unknown.length === 0) return;
  const members = `${unknown.length === 1 ? 'member' : 'members'} ${unknown.join(', ')}`;
  throw wrongUsage(
    `\`${kind}\` of ${file}, "${given[NAMED_BY[kind]]}": unknown ${members}. It may have: ${[...known].join(', ')}.`,
    context.help,
  );
}
