import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import { checkPins, type PinStatus, pinOfTool } from '@behest/protocol/manifest/tool-pins';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, textOf } from '../program/spec.ts';
import {
  argumentTitles,
  type Definition,
  differences,
  type ForeignTool,
  keepDefinitions,
  keptDefinitions,
  suspicions,
} from './definitions.ts';
import { manifestFiles, readManifest } from './files.ts';
import { plainManifest, textOfManifest } from './infer.ts';
import { toolsOfServer } from './mcp-tools.ts';

const MOST = 5;

export const PINNING: readonly CommandSpec[] = [
  {
    name: 'manifest pin',
    isLocal: true,
    summary: 'Pin the tools of a manifest to the definitions that an MCP server offers now',
    notes:
      'A pinned tool is refused once its server describes it differently. The first pins trust the server as it is: the texts are kept in <manifest>.tools.json, to be read. The titles of arguments in the JSON Schema of a tool become its argument_titles, where the manifest has none. Ends with 1 where a definition has changed or is missing, and with 0 after --update.',
    args: [
      { name: 'manifest', about: 'the file of the manifest' },
      {
        name: 'tools',
        about: 'the tools to update; default: all that have changed',
        isOptional: true,
        isMany: true,
      },
    ],
    examples: [
      'behest manifest pin manifests/crm.yaml --from http://localhost:8080/mcp',
      'behest manifest pin manifests/crm.yaml --from http://localhost:8080/mcp --check',
      'behest manifest pin manifests/crm.yaml --from "npx crm-mcp"',
      'behest manifest pin manifests/crm.yaml lookup --from http://localhost:8080/mcp --update',
    ],
    options: [
      {
        flags: '--from <source>',
        about: 'the address of the MCP server, or the command that starts it',
        isRequired: true,
      },
      { flags: '--check', about: 'write nothing, and show how definitions have changed' },
      { flags: '--update', about: 'replace the pins of definitions that have changed, after a question' },
      { flags: '--keep', about: 'with --update, keep the old pins beside the new ones' },
    ],
    run: pin,
  },
];

interface State {
  readonly tool: string;
  readonly status: PinStatus;
}

async function pin(context: Context, given: Given): Promise<number> {
  const [file = '', ...only] = given.args;
  if (isSet(given, 'check') && isSet(given, 'update'))
    throw wrongUsage('--check and --update exclude each other.', context.help);
  const manifest = await readManifest(context, file);
  const { tools } = await toolsOfServer(context, textOf(given, 'from') ?? '');
  const offered = new Map(tools.map(({ name, definition }) => [name, definition]));
  const states = await checkPins(
    manifest,
    tools.map(({ name, definition }) => ({ ...definition, name })),
  );
  await context.rows(states, { columns: ['tool', 'status'] });
  const foreign = await foreignTools(context, manifest.connector);
  for (const warning of tools.flatMap(({ definition }) => suspicions(definition, foreign)))
    context.note(`warning: ${warning}`);

  const kept = keptDefinitions(context, file);
  const changed = states.filter(
    ({ tool, status }) => status === 'changed' && (only.length === 0 || only.includes(tool)),
  );
  if (isSet(given, 'check') || isSet(given, 'update'))
    for (const { tool } of changed)
      for (const line of differences(kept[tool], offered.get(tool))) context.note(`${tool}: ${line}`);
  if (isSet(given, 'check')) return isFaulty(states) ? EXIT.no : EXIT.done;

  const updated = isSet(given, 'update') ? changed : [];
  if (updated.length > 0) await context.confirm(`Pin ${updated.map(({ tool }) => tool).join(', ')} again?`);
  const pinned = [...states.filter(({ status }) => status === 'new'), ...updated].map(({ tool }) => tool);
  if (pinned.length > 0) {
    const text = await withPins(manifest, pinned, offered, isSet(given, 'keep'));
    writeFileSync(resolve(context.io.folder, file), await textOfManifest(text, file));
    const place = keepDefinitions(context, file, manifest.connector, {
      ...kept,
      ...Object.fromEntries(pinned.map((tool) => [tool, offered.get(tool) ?? {}])),
    });
    context.note(`Pinned as the server offers them now: ${pinned.join(', ')}. Read their texts in ${place}.`);
  }
  return isFaulty(states) && !isSet(given, 'update') ? EXIT.no : EXIT.done;
}

/** The tools that the project's other manifests declare for other connectors. */
async function foreignTools(context: Context, own: string): Promise<ForeignTool[]> {
  const found: ForeignTool[] = [];
  for (const file of projectManifests(context)) {
    const manifest = await readManifest(context, file).catch(() => undefined); // a manifest with a fault says nothing
    if (!manifest || manifest.connector === own) continue;
    const { connector, tools } = manifest;
    found.push(...[...tools.keys()].map((tool) => ({ connector, tool })));
  }
  return found;
}

function projectManifests(context: Context): string[] {
  try {
    return manifestFiles(context, []);
  } catch {
    return []; // a project may keep its manifests elsewhere
  }
}

const isFaulty = (states: readonly State[]) =>
  states.some(({ status }) => status === 'changed' || status === 'missing' || status === 'ambiguous');

async function withPins(
  manifest: Manifest,
  pinned: readonly string[],
  offered: ReadonlyMap<string, Definition>,
  isKept: boolean,
): Promise<Record<string, unknown>> {
  const plain = plainManifest(manifest, false);
  const tools: Record<string, unknown> = { ...Object(plain.tools) };
  for (const name of pinned) {
    const tool = tools[name];
    const members = isRecord(tool) ? tool : { permission: tool };
    const old = isKept && Array.isArray(members.mcp_pins) ? members.mcp_pins : [];
    const pins = [...old, await pinOfTool(offered.get(name) ?? {})].slice(-MOST);
    const titles = argumentTitles(offered.get(name) ?? {});
    const named = members.argument_titles === undefined && Object.keys(titles).length > 0;
    tools[name] = { ...members, mcp_pins: pins, ...(named && { argument_titles: titles }) };
  }
  return { ...plain, tools };
}
