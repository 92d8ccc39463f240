import type { Manifest, ManifestTool } from '@behest/protocol/manifest/manifest';
import { isJsonFile } from './files.ts';

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
