import type { Manifest } from '@behest/protocol/manifest/manifest';
import { toolLevels } from '@behest/protocol/tool-scopes';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, listOf, textOf } from '../program/spec.ts';
import { VERSION } from '../version.ts';
import { runCases } from './cases.ts';
import { type Problem, problemsOf, similarConnectors } from './check.ts';
import { manifestFiles, readManifest } from './files.ts';

const PATHS = [
  { name: 'paths', about: 'files, folders, or - for standard input', isOptional: true, isMany: true },
] as const;

export const CHECKING: readonly CommandSpec[] = [
  {
    name: 'manifest check',
    summary: 'Find every fault of manifests, without a network',
    notes:
      'Ends with 1 when there is a fault. A loader would stop at the first. Rules of arguments are compared with the definitions that behest manifest pin keeps in <manifest>.tools.json.',
    args: PATHS,
    examples: ['behest manifest check', 'behest manifest check manifests --strict --format github'],
    options: [
      { flags: '--strict', about: 'take warnings for faults' },
      {
        flags: '--format <format>',
        about: 'how faults are printed',
        choices: ['pretty', 'json', 'github', 'sarif'],
        default: 'pretty',
      },
    ],
    run: check,
  },
  {
    name: 'manifest test',
    summary: 'Run a table of calls through enforce()',
    args: [{ name: 'file', about: 'a file such as crm.cases.yaml' }],
    examples: ['behest manifest test manifests/crm.cases.yaml'],
    notes:
      'The file has `manifests`, a list of paths beside it, and `cases`: name, scopes, connector, tool, arguments, amount, purpose, details, and expect, which is "allow" or a reason code.',
    run: async (context, { args: [file = ''] }) => runCases(context, file),
  },
  {
    name: 'manifest validate',
    summary: 'Say whether a manifest covers all tools of an agent',
    args: PATHS,
    examples: ['behest manifest validate --agent-tools lookup,transfer --connector crm'],
    options: [
      { flags: '--agent-tools <a,b>', about: 'the tools that the agent uses', isRequired: true },
      { flags: '--connector <name>', about: 'the connector of the tools', isRequired: true },
    ],
    run: validate,
  },
  {
    name: 'manifest scopes',
    summary: 'List the scopes that an agent needs for tools',
    args: [{ name: 'file', about: 'a manifest' }],
    examples: ['behest manifest scopes manifests/crm.yaml --tools lookup,transfer'],
    options: [{ flags: '--tools <a,b>', about: 'the tools; default: all of them' }],
    async run(context, given) {
      const manifest = await readManifest(context, given.args[0] ?? '');
      const tools = listOf(textOf(given, 'tools') ?? [...manifest.tools.keys()].join(','));
      const scopes = scopesFor(context, manifest, tools);
      if (context.globals.output !== 'table') return context.one(scopes);
      for (const scope of scopes) context.line(scope);
    },
  },
];

async function check(context: Context, given: Given): Promise<number> {
  const files = manifestFiles(context, given.args);
  const isStrict = isSet(given, 'strict');
  const similar = await similarConnectors(context, files);
  const found = await Promise.all(
    files.map((file) => problemsOf(context, file, [similar.get(file) ?? []].flat())),
  );
  const problems = found.flat().map((each): Problem => (isStrict ? { ...each, severity: 'error' } : each));
  const format = context.globals.output === 'table' ? textOf(given, 'format') : 'json';
  if (format === 'sarif') context.line(JSON.stringify(sarifOf(problems), undefined, 2));
  else if (format === 'json') context.line(JSON.stringify(problems, undefined, 2));
  else for (const each of problems) context.line(format === 'github' ? githubLine(each) : prettyLine(each));
  const faults = problems.filter(({ severity }) => severity === 'error').length;
  context.note(
    `${files.length} ${files.length === 1 ? 'manifest' : 'manifests'}, ${faults} ${faults === 1 ? 'fault' : 'faults'}, ${problems.length - faults} warnings`,
  );
  return faults > 0 ? EXIT.no : EXIT.done;
}

const prettyLine = ({ file, line, column, severity, rule, path, message }: Problem) =>
  visible(
    `${file}:${line}:${column}  ${severity}  ${rule}  ${path === '' ? 'the manifest' : path}: ${message}`,
  );

/** Text of a manifest, with its control characters as escapes: a terminal would obey them. */
const visible = (text: string) =>
  text.replaceAll(
    /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * Text of a manifest must not begin a command of its own.
 *
 * @see https://docs.github.com/actions/reference/workflow-commands
 */
const githubLine = ({ file, line, column, severity, rule, path, message }: Problem) =>
  `::${severity} file=${property(file)},line=${line},col=${column},title=${property(rule)}::${escaped(`${path === '' ? '' : `${path}: `}${message}`)}`;

const escaped = (text: string) =>
  visible(text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A'));
const property = (text: string) => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

async function validate(context: Context, given: Given): Promise<number> {
  const connector = textOf(given, 'connector') ?? '';
  const files = manifestFiles(context, given.args);
  const manifests = await Promise.all(files.map((file) => readManifest(context, file)));
  const manifest = manifests.find((each) => each.connector === connector);
  if (!manifest)
    throw wrongUsage(`No manifest of connector "${connector}" is in ${files.join(', ')}.`, context.help);
  const rows = listOf(textOf(given, 'agentTools') ?? '').map((tool) => ({
    tool,
    covered: manifest.tools.has(tool),
    permission: manifest.tools.get(tool)?.permission ?? '',
  }));
  await context.rows(rows, { columns: ['tool', 'covered', 'permission'] });
  return rows.every(({ covered }) => covered) ? EXIT.done : EXIT.no;
}

/** The narrowest scope that allows all of these tools: a level includes those below it. */
function scopesFor(context: Context, { connector, tools }: Manifest, names: readonly string[]): string[] {
  const unknown = names.filter((name) => !tools.has(name));
  if (unknown.length > 0) throw wrongUsage(`The manifest has no tool ${unknown.join(', ')}.`, context.help);
  const levels = names.map((name) => toolLevels.indexOf(tools.get(name)?.permission ?? 'admin'));
  return levels.length === 0 ? [] : [`tool:${connector}:${toolLevels[Math.max(...levels)]}`];
}

/** @see SARIF 2.1.0, section 3.13 */
const sarifOf = (problems: readonly Problem[]) => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: [
    {
      tool: {
        driver: {
          name: 'behest',
          version: VERSION,
          rules: [...new Set(problems.map(({ rule }) => rule))].map((id) => ({ id })),
        },
      },
      results: problems.map(({ file, line, column, severity, rule, path, message }) => ({
        ruleId: rule,
        level: severity,
        message: { text: path === '' ? message : `${path}: ${message}` },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: file },
              region: { startLine: line, startColumn: column },
            },
          },
        ],
      })),
    },
  ],
});
