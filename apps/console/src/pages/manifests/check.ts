import { manifestFromObject, manifestKeys } from '@behest/protocol/manifest/load';
import type { Manifest, ManifestTool } from '@behest/protocol/manifest/manifest';
import { ManifestValidationError } from '@behest/protocol/manifest/manifest-error';
import { isWider } from '@behest/protocol/manifest/pins';
import { toolKeys } from '@behest/protocol/manifest/tool-reading';
import { capWindows } from '@behest/protocol/tools-entry';
import { ApiError } from '../../api/errors.ts';
import { sayer } from '../../messages/language.ts';
import { type Fault, nearest } from '../../parts/rules/json.ts';

const say = sayer('manifest');

interface Checked {
  readonly faults: readonly Fault[];
  /** The manifest, if the service takes it. */
  readonly manifest?: Manifest;
}

/** Reads a manifest as the service does, which names its first fault. */
export function checkManifest(value: unknown, connector: string): Checked {
  try {
    if (typeof value !== 'object' || value === null)
      return { manifest: manifestFromObject(value), faults: [] };
    // With `$schema` every manifest is read strictly.
    manifestFromObject({ $schema: '', ...value });
    const manifest = manifestFromObject(value);
    return manifest.connector === connector
      ? { manifest, faults: [] }
      : { faults: [{ path: 'connector', text: say('otherConnector') }] };
  } catch (error) {
    if (error instanceof ManifestValidationError)
      return { faults: [{ path: error.path, text: `${error.message}${suggestion(error)}` }] };
    throw error;
  }
}

/** The key that an unknown one is probably meant to be. */
function suggestion({ code, path }: ManifestValidationError): string {
  if (code !== 'unknown_key') return '';
  const [, , ...below] = path.split('.');
  const known = below.length === 0 ? manifestKeys : below.length === 1 ? toolKeys : capWindows;
  const name = nearest(path.slice(path.lastIndexOf('.') + 1), known);
  return name === undefined
    ? ` ${say('knownKeys', { keys: known.join(', ') })}`
    : ` ${say('meant', { name })}`;
}

/** What the service refuses in a draft. */
export function refusedPlaces(error: unknown): Fault[] {
  if (!(error instanceof ApiError) || error.code !== 'INVALID_MANIFEST') return [];
  const { path, code } = error.details;
  return [{ path: String(path), text: `${path}: ${code}` }];
}

/** A tool of a draft beside what is saved. */
export interface ToolRow {
  readonly name: string;
  /** As it stands in the draft, which may be wrong. */
  readonly tool: Partial<ManifestTool>;
  /** As it is saved. */
  readonly before: ManifestTool | undefined;
  readonly change: 'added' | 'wider' | undefined;
}

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

/** @param value the draft as it is parsed @param draft as it is read, where nothing is wrong with it */
export function toolsOf(value: unknown, draft: Manifest | undefined, saved: Manifest | undefined): ToolRow[] {
  return Object.entries(membersOf(membersOf(value).tools)).map(([name, written]) => {
    const before = saved?.tools.get(name);
    const tool = draft?.tools.get(name);
    const isNew = saved !== undefined && before === undefined;
    return {
      name,
      tool: typeof written === 'string' ? Object({ permission: written }) : membersOf(written),
      before,
      change: isNew ? 'added' : before && tool && isWider(before, tool) ? 'wider' : undefined,
    };
  });
}

/** The draft with other members of a tool. One that is undefined is left out, and a permission alone is a text. */
export function withTool(value: unknown, name: string, change: Members): Members {
  const draft = membersOf(value);
  const tools = membersOf(draft.tools);
  const written = tools[name];
  const members = Object.entries({
    ...(typeof written === 'string' ? { permission: written } : membersOf(written)),
    ...change,
  }).filter(([, member]) => member !== undefined);
  const [[only, permission] = []] = members;
  const isShort = members.length === 1 && only === 'permission';
  return { ...draft, tools: { ...tools, [name]: isShort ? permission : Object.fromEntries(members) } };
}

/** What a manifest begins with. */
export const templateOf = (connector: string) => ({
  $schema: 'https://behest.dev/schemas/manifest-0.6.json',
  connector,
  version: '1.0.0',
  tools: {
    list_items: 'read',
    change_item: { permission: 'write', caps: { per_hour: 20 } },
    delete_item: { permission: 'delete', requires_decision: true },
  },
});
