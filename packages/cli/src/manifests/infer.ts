import type { Manifest, ManifestTool } from '@behest/protocol/manifest/manifest';
import { dataIn } from '../api/fields.ts';
import { isRecord } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { wrongUsage } from '../errors.ts';
import { argumentTitles, type Definition } from './definitions.ts';
import { isJsonFile, textIn } from './files.ts';
import { type Guess, guessOf, isAddress, toolsOfServer } from './mcp-tools.ts';

const SCHEMA = 'https://behest.dev/schemas/manifest-0.6.json';
const ORDER: readonly (keyof ManifestTool)[] = [
  'permission',
  'allowed_purposes',
  'caps',
  'cost_units',
  'requires_decision',
  'four_eyes_on',
  'arguments',
  'mcp_pins',
  'title',
  'description',
  'argument_titles',
  'titles',
  'binds',
];

/** The members of a manifest in their order, the tools by name. A tool that needs nothing but a permission stays short. */
export function plainManifest(manifest: Manifest, isExpanded: boolean): Record<string, unknown> {
  const { schema, connector, version, description, tools } = manifest;
  const sorted = [...tools].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    ...((schema ?? (isExpanded ? SCHEMA : undefined)) && { $schema: schema ?? SCHEMA }),
    connector,
    version,
    ...(description !== undefined && { description }),
    tools: Object.fromEntries(sorted.map(([name, tool]) => [name, toolText(tool, isExpanded)])),
  };
}

function toolText(tool: ManifestTool, isExpanded: boolean): unknown {
  const members = ORDER.filter((name) => tool[name] !== undefined).map((name) => [name, tool[name]]);
  return members.length === 1 && !isExpanded ? tool.permission : Object.fromEntries(members);
}

/** Writes a manifest as the kind of its file. Comments in YAML are not kept. */
export async function textOfManifest(manifest: Record<string, unknown>, file: string): Promise<string> {
  if (isJsonFile(file)) return `${JSON.stringify(manifest, undefined, 2)}\n`;
  const { stringify } = await import('yaml');
  return stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false });
}

export interface Proposal {
  readonly connector: string;
  readonly tools: readonly Guess[];
  /** The tools as a server offers them, by their names. Other sources have no definitions. */
  readonly definitions?: ReadonlyMap<string, Definition>;
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

/** Finds the tools of a source, and guesses what each needs. @throws CliError for a source that it cannot read */
export async function inferred(
  context: Context,
  source: string,
  from: string | undefined,
  connector: string | undefined,
): Promise<Proposal> {
  const kind = from ?? (isAddress(source) ? 'mcp' : /\.[cm]?tsx?$/.test(source) ? 'ts' : undefined);
  if (kind === 'mcp') {
    const { name, tools } = await toolsOfServer(context, source);
    return {
      ...proposal(
        connector ?? name,
        tools.map((tool) => guessOf(tool.name, tool.hints)),
      ),
      definitions: onlyOnce(tools),
    };
  }
  if (kind === 'ts')
    return proposal(
      connector ?? nameOf(source),
      namesInCode(await textIn(context, source)).map((name) => guessOf(name)),
    );
  const value = await dataIn(context, source);
  const isApi = kind === 'openapi' || (kind === undefined && isRecord(value) && isRecord(value.paths));
  if (isApi) return proposal(connector ?? nameOf(source), operationsIn(value));
  const list: unknown = isRecord(value) ? value.tools : value;
  if (!Array.isArray(list))
    throw wrongUsage(`${source} is no list of tools, no OpenAPI description and no address.`, context.help);
  return proposal(connector ?? nameOf(source), list.map(guessOfItem));
}

/** A name that is offered twice has no definition, and no pin. */
function onlyOnce(tools: readonly { readonly name: string; readonly definition: Definition }[]) {
  const times = Map.groupBy(tools, ({ name }) => name);
  return new Map(
    tools.filter(({ name }) => times.get(name)?.length === 1).map((each) => [each.name, each.definition]),
  );
}

/** The name of the file, in the characters that a connector may have. */
const nameOf = (source: string) =>
  source === '-'
    ? 'connector'
    : (source.split('/').at(-1) ?? '').replace(/\.[\s\S]*$/, '').replaceAll(/[^A-Za-z0-9_.-]/g, '_') ||
      'connector';

function proposal(connector: string, tools: readonly Guess[]): Proposal {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    connector,
    tools: [...byName.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

function guessOfItem(item: unknown): Guess {
  const { name, annotations } = isRecord(item) ? item : { name: item, annotations: undefined };
  const { readOnlyHint, destructiveHint } = Object(annotations);
  return guessOf(String(name), { readOnly: readOnlyHint, destructive: destructiveHint });
}

function operationsIn(value: unknown): Guess[] {
  const paths = isRecord(value) && isRecord(value.paths) ? value.paths : {};
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(Object(verbs))
      .filter(([verb]) => METHODS.includes(verb))
      .map(([verb, operation]) => {
        const id: unknown = Object(operation).operationId;
        const name =
          typeof id === 'string'
            ? id
            : `${verb}_${path.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_|_$/g, '')}`;
        return guessOf(name.replaceAll(/[^A-Za-z0-9_.-]/g, '_'), { method: verb.toUpperCase() });
      }),
  );
}

/** The names of tools in code: of registrations on a server, and of objects that have a description or a schema. */
function namesInCode(code: string): string[] {
  const calls = [...code.matchAll(/\.(?:tool|registerTool|addTool)\(\s*['"`]([\w.-]+)['"`]/g)];
  const objects = [
    ...code.matchAll(
      /\bname:\s*['"`]([\w.-]+)['"`]\s*,\s*(?:description|inputSchema|input_schema|parameters|schema)\b/g,
    ),
  ];
  const members = [...code.matchAll(/\b([A-Za-z_]\w*):\s*tool\(\s*\{/g)];
  return [...calls, ...objects, ...members].map(([, name = '']) => name);
}

/** Writes a proposal as YAML, its reasons as comments. Entries that a manifest has already are kept. */
export async function mergedWith(
  { connector, tools, definitions }: Proposal,
  base: Manifest | undefined,
): Promise<string> {
  const { pinOfTool } = await import('@behest/protocol/manifest/tool-pins');
  const { stringify } = await import('yaml');
  const line = (value: unknown) => stringify(value, { lineWidth: 0 }).trimEnd();
  const kept = base ? plainManifest(base, false) : { connector, version: '1.0.0' };
  const { tools: old, ...head } = { tools: {}, ...kept };
  const fresh = tools.filter(({ name }) => !base?.tools.has(name));
  const proposed = await Promise.all(
    fresh.map(async ({ name, permission, because, isUnsure }) => {
      const definition = definitions?.get(name);
      const titles = definition ? argumentTitles(definition) : {};
      const named = Object.keys(titles).length > 0 && { argument_titles: titles };
      const tool = definition
        ? { permission, mcp_pins: [await pinOfTool(definition)], ...named }
        : permission;
      const reason = `# ${isUnsure ? 'review: ' : ''}${because}`;
      return definition ? `${reason}\n${line({ [name]: tool })}` : `${line({ [name]: tool })} ${reason}`;
    }),
  );
  const lines = [...Object.entries(Object(old)).map(([name, tool]) => line({ [name]: tool })), ...proposed];
  return `${line(head)}\ntools:\n${lines.map((each) => each.replaceAll(/^/gm, '  ')).join('\n')}\n`;
}
