import { execFileSync } from 'node:child_process';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type Given, isSet, textOf } from '../program/options.ts';
import type { CommandSpec } from '../program/spec.ts';
import { affectedGrants } from './affected.ts';
import { loadText, readManifest } from './files.ts';
import { type Change, changesBetween } from './plan.ts';

const ARGS = [
  { name: 'old', about: 'the manifest as it was; alone it is the new one' },
  { name: 'new', about: 'the manifest as it will be', isOptional: true },
] as const;
const OPTIONS = [
  { flags: '--service', about: 'compare with the manifest that the service has' },
  { flags: '--grants', about: 'count the live grants of agents that would lose calls' },
  { flags: '--fail-on <effect>', about: 'end with 1 at such a change', choices: ['looser', 'any'] },
];

export const COMPARING: readonly CommandSpec[] = [
  {
    name: 'manifest plan',
    summary: 'Say in words who gains and who loses by a changed manifest',
    notes:
      'With one file, the old manifest is the last committed version in git, or that of the service with --service.',
    args: ARGS,
    examples: [
      'behest manifest plan old.yaml new.yaml',
      'behest manifest plan manifests/crm.yaml --fail-on looser',
      'behest manifest plan manifests/crm.yaml --service --grants',
    ],
    options: OPTIONS,
    run: (context, given) => compare(context, given, false),
  },
  {
    name: 'manifest diff',
    summary: 'Print the changes of a manifest as data',
    args: ARGS,
    examples: [
      'behest manifest diff old.yaml new.yaml',
      'behest manifest diff manifests/crm.yaml --fail-on any',
    ],
    options: [
      ...OPTIONS,
      {
        flags: '--format <format>',
        about: 'how the changes are printed',
        choices: ['json', 'yaml'],
        default: 'json',
      },
    ],
    run: (context, given) => compare(context, given, true),
  },
];

async function compare(context: Context, given: Given, isData: boolean): Promise<number> {
  const { before, after } = await pairOf(context, given);
  if (before && before.connector !== after.connector)
    throw wrongUsage(`The connectors differ: ${before.connector} and ${after.connector}.`, context.help);
  const changes = changesBetween(before ?? { ...after, tools: new Map() }, after);
  const isTable = context.globals.output === 'table' && !isData;
  const affected = isSet(given, 'grants') ? await affectedGrants(context, after, changes) : [];
  if (isTable) {
    for (const { effect, tool, words } of changes) context.line(`${effect.padEnd(7)}  ${tool}  ${words}`);
    for (const { tool, grants, agents } of affected)
      context.line(`affected ${tool}: ${grants} live grants, of ${agents.join(', ')}`);
    if (changes.length === 0) context.note('Nothing changes.');
  } else {
    const rows = changes.map((change) => ({
      ...change,
      ...affected.find(({ tool }) => tool === change.tool),
    }));
    const isYaml = context.globals.output === 'yaml' || textOf(given, 'format') === 'yaml';
    const { stringify } = await import('yaml');
    if (isYaml) context.io.out(stringify(rows, { aliasDuplicateObjects: false }));
    else context.line(JSON.stringify(rows, undefined, 2));
  }
  return isFailure(changes, textOf(given, 'failOn')) ? EXIT.no : EXIT.done;
}

function isFailure(changes: readonly Change[], failOn: string | undefined): boolean {
  if (failOn === 'any') return changes.length > 0;
  return failOn === 'looser' && changes.some(({ effect }) => effect === 'looser');
}

async function pairOf(
  context: Context,
  given: Given,
): Promise<{ before: Manifest | undefined; after: Manifest }> {
  const [first = '', second] = given.args;
  if (second !== undefined)
    return { before: await readManifest(context, first), after: await readManifest(context, second) };
  const after = await readManifest(context, first);
  if (isSet(given, 'service')) return { before: await manifestOfService(context, after.connector), after };
  const committed = committedText(context, first);
  return { before: committed === undefined ? undefined : await loadText(committed, first), after };
}

/** @returns undefined for a connector that the service does not know */
async function manifestOfService(context: Context, connector: string): Promise<Manifest | undefined> {
  const { manifestFromObject } = await import('@behest/protocol/manifest/load');
  try {
    return manifestFromObject((await (await context.client()).manifests.get(connector)).manifest);
  } catch (error) {
    if (Object(error).statusCode === 404) return undefined;
    throw error;
  }
}

/** @returns undefined for a file that git does not have yet */
function committedText(context: Context, file: string): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: context.io.folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  try {
    git('rev-parse', '--git-dir');
  } catch {
    throw wrongUsage('There is no git here: give the old manifest too, or --service.', context.help);
  }
  try {
    return git('show', `HEAD:./${file}`);
  } catch {
    return undefined;
  }
}
