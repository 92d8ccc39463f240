import { manifestFromObject } from '@behest/protocol/manifest/load';
import type { Manifest, ManifestTool } from '@behest/protocol/manifest/manifest';
import { ManifestValidationError } from '@behest/protocol/manifest/manifest-error';
import { isWider } from '@behest/protocol/manifest/pins';
import { ApiError } from '../../api/errors.ts';
import { sayer } from '../../messages/language.ts';
import type { Fault } from '../../parts/rules/json.ts';

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
      return { faults: [{ path: error.path, text: error.message }] };
    throw error;
  }
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
  readonly tool: ManifestTool;
  /** As it is saved. */
  readonly before: ManifestTool | undefined;
  readonly change: 'added' | 'wider' | undefined;
}

export const toolsOf = (draft: Manifest, saved: Manifest | undefined): ToolRow[] =>
  [...draft.tools].map(([name, tool]) => {
    const before = saved?.tools.get(name);
    const isNew = saved !== undefined && before === undefined;
    return {
      name,
      tool,
      before,
      change: isNew ? 'added' : before && isWider(before, tool) ? 'wider' : undefined,
    };
  });

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
