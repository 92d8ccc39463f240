import { execFileSync } from 'node:child_process';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import { coversTool, parseToolScope } from '@behest/protocol/tool-scopes';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, textOf } from '../program/spec.ts';
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

interface Affected {
  readonly tool: string;
  readonly grants: number;
  /** The ids of the agents. */
  readonly agents: readonly string[];
}

/** Counts the live grants whose calls of a tool would change from allow to deny, by its permission alone. */
async function affectedGrants(
  context: Context,
  after: Manifest,
  changes: readonly Change[],
): Promise<Affected[]> {
  const losing = changes.filter(
    ({ member, effect }) => effect === 'tighter' && (member === undefined || member === 'permission'),
  );
  if (losing.length === 0) return [];
  const client = await context.client();
  const found = losing.map(({ tool, before }) => ({
    tool,
    level: levelIn(before),
    grants: 0,
    agents: new Set<string>(),
  }));
  for await (const { agentId, scopes } of client.grants.list({ status: 'active', limit: 500 })) {
    for (const each of found) {
      const now = after.tools.get(each.tool)?.permission;
      const isLost =
        covers(scopes, after.connector, each.level) && !(now && covers(scopes, after.connector, now));
      if (!isLost) continue;
      each.grants += 1;
      each.agents.add(agentId);
    }
  }
  return found
    .filter(({ grants }) => grants > 0)
    .map(({ tool, grants, agents }) => ({ tool, grants, agents: [...agents] }));
}

const levelIn = (before: unknown): string =>
  typeof before === 'string' ? before : String(Object(before).permission);

function covers(scopes: readonly string[], connector: string, level: string): boolean {
  const wanted = parseToolScope(`tool:${connector}:${level}`);
  // A scope with a resource or a cap covers some calls, and those may be lost.
  return scopes.some((scope) => {
    const wide = parseToolScope(scope);
    return (
      wide !== undefined &&
      wanted !== undefined &&
      coversTool({ connector: wide.connector, level: wide.level }, wanted)
    );
  });
}
