import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import { writeNewFile } from '../api/run.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, textOf } from '../program/spec.ts';
import { keepDefinitions, keptDefinitions, suspicions } from './definitions.ts';
import { loadText, manifestFiles, readManifest, textIn } from './files.ts';
import { inferred, mergedWith, type Proposal, plainManifest, textOfManifest } from './infer.ts';
import { READY } from './ready.ts';

const PATHS = [
  { name: 'paths', about: 'files, folders, or - for standard input', isOptional: true, isMany: true },
] as const;

export const WRITING: readonly CommandSpec[] = [
  {
    name: 'manifest infer',
    isLocal: true,
    summary: 'Propose a manifest for tools that are there already',
    notes:
      'Each guess has its reason beside it. The tools of an MCP server are pinned to the definitions that it offers now; their texts are kept in <file>.tools.json, to be read. A name that fits several permissions gets the higher one, an unsure one gets delete, and nothing is guessed as admin: read what it wrote before you use it.',
    args: [
      {
        name: 'source',
        about:
          'an MCP server, by its address or, with --from mcp, its command; or a file; - for standard input',
      },
    ],
    examples: [
      'behest manifest infer http://localhost:8080/mcp --out manifests/crm.yaml',
      'behest manifest infer openapi.json --connector crm',
    ],
    options: [
      { flags: '--connector <name>', about: 'the name of the connector; default: that of the source' },
      {
        flags: '--from <kind>',
        about: 'the kind of the source; default: guessed',
        choices: ['mcp', 'openapi', 'ts', 'json'],
      },
      { flags: '--out <file>', about: 'write a new file' },
      { flags: '--merge <file>', about: 'add the tools that this manifest lacks, and keep what it says' },
    ],
    run: infer,
  },
  {
    name: 'manifest fmt',
    isLocal: true,
    summary: 'Write manifests in their canonical order and indentation',
    notes: 'Comments of YAML are not kept.',
    args: PATHS,
    examples: ['behest manifest fmt', 'behest manifest fmt --check'],
    options: [{ flags: '--check', about: 'change nothing, and end with 1 where something would change' }],
    run: (context, given) => rewrite(context, given, false),
  },
  {
    name: 'manifest upgrade',
    isLocal: true,
    summary: 'Write manifests of texts in the object form of schema 0.6, with the same meaning',
    args: PATHS,
    examples: ['behest manifest upgrade manifests/crm.yaml'],
    options: [{ flags: '--check', about: 'change nothing, and end with 1 where something would change' }],
    run: (context, given) => rewrite(context, given, true),
  },
  {
    name: 'manifest list',
    summary: 'List the manifests that come with the program',
    examples: ['behest manifest list', 'behest manifest list --category code'],
    options: [{ flags: '--category <name>', about: 'a kind of manifests' }],
    async run(context, given) {
      const category = textOf(given, 'category');
      const rows = READY.filter((each) => category === undefined || each.category === category);
      await context.rows(
        rows.map(({ manifest, category: of }) => ({
          connector: manifest.connector,
          category: of,
          tools: Object.keys(manifest.tools).length,
          description: manifest.description,
        })),
        { columns: ['connector', 'category', 'tools', 'description'] },
      );
    },
  },
  {
    name: 'manifest show',
    summary: 'Print a manifest that comes with the program',
    args: [{ name: 'connector', about: 'its connector' }],
    examples: ['behest manifest show github > manifests/github.yaml'],
    async run(context, { args: [connector = ''] }) {
      const found = READY.find(({ manifest }) => manifest.connector === connector);
      if (!found)
        throw new CliError('NOT_FOUND', `No manifest of "${connector}" comes with the program.`, {
          exitCode: EXIT.notFound,
          next: 'behest manifest list',
        });
      const isTable = context.globals.output === 'table';
      if (!isTable) return context.one(found.manifest);
      context.io.out(await textOfManifest(found.manifest, 'manifest.yaml'));
    },
  },
];

async function infer(context: Context, given: Given): Promise<number> {
  const [source = ''] = given.args;
  const [out, merge] = [textOf(given, 'out'), textOf(given, 'merge')];
  const proposal = await inferred(context, source, textOf(given, 'from'), textOf(given, 'connector'));
  if (proposal.tools.length === 0) {
    context.note(`${source} has no tools.`);
    return EXIT.no;
  }
  const base = merge === undefined ? undefined : await readManifest(context, merge);
  const text = await mergedWith(proposal, base);
  if (out === undefined) context.io.out(text);
  else {
    writeNewFile(context, out, text);
    keepInferred(context, out, proposal, base && { file: merge ?? '', tools: base.tools });
    context.note(`wrote ${out}`);
  }
  const unsure = proposal.tools.filter(({ isUnsure }) => isUnsure).length;
  context.note(`${proposal.tools.length} tools, ${unsure} of them to review`);
  return EXIT.done;
}

/** Keeps the texts behind the pins of new tools, beside those of the manifest that they were added to. */
function keepInferred(
  context: Context,
  out: string,
  { connector, definitions }: Proposal,
  base: { readonly file: string; readonly tools: Manifest['tools'] } | undefined,
): void {
  if (!definitions) return;
  const fresh = [...definitions].filter(([name]) => !base?.tools.has(name));
  const before = base ? keptDefinitions(context, base.file) : {};
  const place = keepDefinitions(context, out, connector, { ...before, ...Object.fromEntries(fresh) });
  for (const warning of fresh.flatMap(([, definition]) => suspicions(definition)))
    context.note(`warning: ${warning}`);
  context.note(`Pinned as the server offers them now. Read their texts in ${place}.`);
}

async function rewrite(context: Context, given: Given, isExpanded: boolean): Promise<number> {
  const files = manifestFiles(context, given.args);
  if (files.includes('-') && files.length > 1) throw wrongUsage('Standard input stands alone.', context.help);
  let changed = 0;
  for (const file of files) {
    const before = await textIn(context, file);
    const manifest = await loadText(before, file);
    const text = await textOfManifest(plainManifest(manifest, isExpanded), file);
    if (file === '-') {
      context.io.out(text);
      continue;
    }
    if (text === before) continue;
    changed += 1;
    if (isSet(given, 'check')) context.line(file);
    else {
      writeFileSync(resolve(context.io.folder, file), text);
      context.note(`wrote ${file}`);
    }
  }
  return isSet(given, 'check') && changed > 0 ? EXIT.no : EXIT.done;
}
