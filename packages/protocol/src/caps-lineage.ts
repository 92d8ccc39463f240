import { type Caps, TOOLS_TYPE, type ToolsEntry } from './tools-entry.ts';

export const LINEAGE_TYPE = 'urn:service:caps-lineage:v1';

/**
 * What the grants above a delegated one may use of a connector, the root first. Whoever enforces the grant charges
 * each of them too, so that passing a grant on does not multiply what it allows.
 */
export interface LineageEntry {
  readonly type: typeof LINEAGE_TYPE;
  readonly connector: string;
  readonly ancestors: readonly { readonly grant: string; readonly caps: Caps }[];
}

/** What a grant holds, and its tokens say. */
export type IssuedEntry = ToolsEntry | LineageEntry;

/**
 * Makes the lineage of a delegated grant.
 *
 * @param kept its own entries; of connectors that it does not describe nothing has to be counted
 * @param parent the entries that the parent was issued with
 */
export function capsLineage(
  kept: readonly ToolsEntry[],
  parent: { readonly grantId: string; readonly entries: readonly IssuedEntry[] },
): LineageEntry[] {
  return kept.flatMap(({ connector }) => {
    const its = parent.entries.filter((entry) => entry.connector === connector);
    const above = its.find((entry) => entry.type === LINEAGE_TYPE)?.ancestors ?? [];
    const caps = its.find((entry) => entry.type === TOOLS_TYPE)?.caps;
    const ancestors = caps ? [...above, { grant: parent.grantId, caps }] : above;
    return ancestors.length > 0 ? [{ type: LINEAGE_TYPE, connector, ancestors }] : [];
  });
}

/** Those entries that developers are shown: what they or a person asked for. */
export function toolsEntries(entries: readonly IssuedEntry[]): ToolsEntry[] {
  return entries.filter((entry) => entry.type === TOOLS_TYPE);
}

/** The entries of a grant as they are stored: they were read, or made, before they came there. */
export function storedEntries(column: unknown): IssuedEntry[] {
  return Array.isArray(column) ? column.filter(isIssued) : [];
}

function isIssued(value: unknown): value is IssuedEntry {
  return [TOOLS_TYPE, LINEAGE_TYPE].includes(Object(value).type);
}
